"""Which paths are pages, and the cookie that stands for a key there, and nowhere else."""

from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie
from urllib.parse import quote

from starlette.datastructures import Headers
from starlette.responses import RedirectResponse, Response

from commonplace.interfaces.http.access import Unauthenticated

COOKIE = "commonplace_key"
AREAS = frozenset(
    {"user", "doctor", "facts", "fact", "playground", "conversations", "blocks", "talk", "graph", "care", "logout"}
)
"""The first segments of the paths of pages; the native API is under others."""


def is_page(path: str) -> bool:
    return path == "/" or path.partition("/")[2].partition("/")[0] in AREAS


def is_open(path: str) -> bool:
    """Whether nobody needs a key for it: it says nothing of anybody's memory."""
    return path == "/login" or path.startswith("/static/")


def key_in_cookie(headers: Headers, path: str) -> str | None:
    """Return the key that a browser was given at login. The API never looks at cookies."""
    return cookie_of(headers) if is_page(path) else None


def cookie_of(headers: Headers) -> str | None:
    try:
        found = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
    except CookieError:
        return None
    return found.value if found is not None else None


def to_login(path: str, query: bytes, error: Exception) -> Response | None:
    """Return the way to the login, for who wants a page and shows no key, or one that opens nothing any more."""
    if not isinstance(error, Unauthenticated) or not is_page(path):
        return None
    wanted = path + (f"?{query.decode('latin-1')}" if query else "")
    answer = RedirectResponse(f"/login?next={quote(wanted, safe='')}", HTTPStatus.SEE_OTHER)
    answer.delete_cookie(COOKIE, httponly=True, samesite="strict")
    return answer
