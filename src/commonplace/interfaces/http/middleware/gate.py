"""Who comes in: a key, or nobody else on this machine; from no other site; and not too often.

A page of another site can make a browser ask services on its own machine, so what carries a foreign Origin, or comes
for a foreign host name while no key is needed, is refused.
"""

from collections.abc import Sequence
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from commonplace.domain.errors import CommonplaceError
from commonplace.interfaces.http.access import Caller, Forbidden
from commonplace.interfaces.http.limiting import Limiter, Turn
from commonplace.interfaces.http.pages.entry import is_open, key_in_cookie, to_login
from commonplace.interfaces.http.problems import TooMany, problem_of
from commonplace.interfaces.http.service import Service

OPEN_PATHS = frozenset({"/healthz", "/readyz", "/openapi.json"})
"""What nobody needs a key for: it says nothing of anybody's memory."""
PASSED_ON = ("/openai/", "/anthropic/")
"""Where an Authorization that is no key of ours is meant for the service behind."""
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


class Gate:
    def __init__(
        self, app: ASGIApp, *, service: Service, limiter: Limiter, hosts: Sequence[str], origins: Sequence[str]
    ) -> None:
        """`hosts` are names this service goes by, `origins` the sites whose pages may call it."""
        self._app, self._service, self._limiter = app, service, limiter
        self._hosts, self._origins = LOOPBACK | {host.lower() for host in hosts}, frozenset(origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in OPEN_PATHS or is_open(scope["path"]):
            await self._app(scope, receive, send)
            return
        turn = Turn(granted=True, headers={})
        try:
            headers = Headers(scope=scope)
            self._check_origin(headers)
            caller = await self._service.admit(
                token_of(headers, scope["path"]) or key_in_cookie(headers, scope["path"])
            )
            self._check_host(headers, caller)
            scope["state"]["caller"] = caller
            turn = await self._limiter.turn(f"{caller.tenant}:{caller.key}", scope["method"], scope["path"])
            if not turn.granted:
                raise TooMany(f"this key has asked too often: try again in {turn.headers['Retry-After']} seconds")
        except CommonplaceError as error:
            refusal = to_login(scope["path"], scope["query_string"], error)
            refusal = refusal or problem_of(error, request_id=scope["state"]["request_id"], headers=turn.headers)
            await refusal(scope, receive, send)
            return

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                told = ((name.lower().encode(), value.encode()) for name, value in turn.headers.items())
                message["headers"] = [*message.get("headers", ()), *told]
            await send(message)

        await self._app(scope, receive, sending)

    def _check_origin(self, headers: Headers) -> None:
        origin = headers.get("origin")
        if origin is None or origin in self._origins:
            return
        if origin.partition("://")[2] != headers.get("host"):
            raise Forbidden(f"Origin {origin[:200]!r}: pages of that site may not call this service (api_cors_origins)")

    def _check_host(self, headers: Headers, caller: Caller) -> None:
        host = headers.get("host", "")
        if caller.key == "local" and _name_of(host) not in self._hosts:
            raise Forbidden(f"Host {host[:200]!r}: without a key this service answers on this machine only")


def _name_of(host: str) -> str | None:
    try:
        return urlsplit(f"//{host}").hostname
    except ValueError:  # brackets with no address in them
        return None


def token_of(headers: Headers, path: str) -> str | None:
    """Return the key that a request shows; the first of these headers counts, whatever the others say."""
    if own := headers.get("x-commonplace-key"):
        return own
    scheme, _, bearer = headers.get("authorization", "").partition(" ")
    if scheme and scheme.lower() != "bearer":
        bearer = scheme  # nothing that a key could look like: refused as one
    token = bearer.strip() or headers.get("x-api-key")
    if token and path.startswith(PASSED_ON) and not token.startswith("cp_"):
        return None
    return token or None
