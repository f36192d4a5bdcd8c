"""Pages as they go out: templates that escape everything, headers that let nothing foreign run, errors as pages."""

from collections.abc import Callable, Coroutine
from datetime import UTC, datetime
from http import HTTPStatus
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.responses import RedirectResponse, Response

from commonplace.domain.errors import CommonplaceError
from commonplace.interfaces.http.access import Access, Caller
from commonplace.interfaces.http.pages.assets import DIGEST
from commonplace.interfaces.http.pages.forms import csrf_token
from commonplace.interfaces.http.pages.texts import Texts
from commonplace.interfaces.http.problems import status_of

HERE = Path(__file__).parent
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    ),
    # With `no-referrer` a browser sends `Origin: null` with forms, which would be refused.
    "Referrer-Policy": "same-origin",
}

Whose = Annotated[str, Query(alias="user", max_length=1_000)]
"""The user of a page; empty: the anonymous one, or the key's own."""


def link(path: str, **query: object) -> str:
    """Return an address; what is None or empty is left out."""
    given = {name: str(value) for name, value in query.items() if value not in (None, "")}
    return f"{path}?{urlencode(given, errors='surrogatepass')}" if given else path


def moment(value: datetime | None) -> str:
    return "" if value is None else f"{value.astimezone(UTC):%d %b %Y, %H:%M}".lstrip("0")


def day(value: datetime | None) -> str:
    return "" if value is None else f"{value.astimezone(UTC):%d %b %Y}".lstrip("0")


def iso(value: datetime | None) -> str:
    return "" if value is None else value.astimezone(UTC).isoformat()


def share(value: float) -> str:
    return f"{value:.2f}"


def percent(value: float) -> str:
    """Return a place or a width in a drawing, from a share of the whole."""
    return f"{100 * value:.3f}%"


def _environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.filters |= {"moment": moment, "day": day, "iso": iso, "share": share, "percent": percent}
    made.globals |= {"t": Texts, "link": link, "static": f"/static/{DIGEST}"}
    return made


TEMPLATES = _environment()


def rendered(template: str, **values: object) -> bytes:
    # Half a surrogate pair cannot be sent; a browser shows "?" for it.
    return TEMPLATES.get_template(template).render(**values).encode("utf-8", "replace")


def html(content: bytes, status: int = 200) -> Response:
    return Response(content, status, headers=HEADERS, media_type="text/html")


def page(access: Access, template: str, *, user: str | None = None, **values: object) -> Response:
    """Return a page about a user, or about nobody in particular."""
    return html(rendered(template, **_around(access.request, access.caller, user), **values))


def back_to(path: str, **query: object) -> Response:
    """Answer a form: the browser goes to a page, which can be loaded again without harm."""
    return RedirectResponse(link(path, **query), HTTPStatus.SEE_OTHER)


def _around(request: Request, caller: Caller | None, user: str | None) -> dict[str, object]:
    return {
        "path": request.url.path,
        "caller": caller,
        "writes": caller is not None and caller.may("write"),
        "cares": caller is not None and caller.may("admin"),
        "everybody": caller is not None and caller.user is None,
        "user": user,
        "csrf": csrf_token(request),
    }


def told(request: Request, status: int, message: str) -> Response:
    """Return an error as a page."""
    caller = request.scope["state"].get("caller")
    values = {"status": status, "phrase": HTTPStatus(status).phrase, "message": message}
    return html(rendered("error.html", **_around(request, caller, None), **values), status)


class PageRoute(APIRoute):
    """A route that answers people: what goes wrong is told on a page, too."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        usual = super().get_route_handler()

        async def handled(request: Request) -> Response:
            try:
                return await usual(request)
            except RequestValidationError as error:
                wrong = "; ".join(f"{one['loc'][-1]}: {one['msg']}" for one in error.errors()[:5])
                return told(request, 422, wrong)
            except CommonplaceError as error:
                return told(request, status_of(error), str(error))

        return handled
