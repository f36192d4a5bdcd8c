"""In and out: a key is shown once, and a cookie that no script can read stands for it."""

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from commonplace.interfaces.http.access import Forbidden, Unauthenticated
from commonplace.interfaces.http.pages.entry import COOKIE, is_page
from commonplace.interfaces.http.pages.forms import Filled, fields_of
from commonplace.interfaces.http.pages.shell import PageRoute, html, rendered
from commonplace.interfaces.http.pages.texts import Texts
from commonplace.interfaces.http.service import Service

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@router.get("/login")
async def login(next: str = "/") -> Response:  # noqa: A002 - the name in the address
    return _form(_inside(next), "")


@router.post("/login")
async def enter(request: Request) -> Response:
    _check_origin(request)
    form = await fields_of(request)
    service: Service = request.app.state.service
    token, wanted = form.optional("key"), _inside(form.fields.get("next", "/"))
    try:
        await service.admit(token or "")
    except Unauthenticated:
        return _form(wanted, Texts.wrong_key, 401)
    answer = RedirectResponse(wanted, 303)
    answer.set_cookie(COOKIE, token or "", httponly=True, samesite="strict", secure=request.url.scheme == "https")
    return answer


@router.post("/logout")
async def leave(form: Filled) -> Response:
    answer = RedirectResponse("/login", 303)
    answer.delete_cookie(COOKIE, httponly=True, samesite="strict")
    return answer


def _form(wanted: str, problem: str, status: int = 200) -> Response:
    return html(rendered("login.html", wanted=wanted, problem=problem, caller=None, user=None), status)


def _inside(wanted: str) -> str:
    """Return a path of ours, whatever the address says: nobody is sent to another site."""
    path = wanted.partition("?")[0].partition("#")[0]
    ours = path.startswith("/") and is_page(path) and "\\" not in wanted and wanted.isprintable()
    return wanted if ours else "/"


def _check_origin(request: Request) -> None:
    origin = request.headers.get("origin")
    if origin is not None and origin.partition("://")[2] != request.headers.get("host"):
        raise Forbidden("this form comes from another site")
