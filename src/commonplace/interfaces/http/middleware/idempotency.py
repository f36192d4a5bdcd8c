"""Idempotency-Key: the same key with the same request is answered as before; with another request it is refused.

Answers are kept for a day, in the ledger, so they outlive the process. Only what succeeded is kept: the rest may be
tried again.
"""

import hashlib
from datetime import timedelta

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from commonplace.domain.errors import CommonplaceError, Conflict, InvalidInput
from commonplace.domain.scope import Scope as Whose
from commonplace.interfaces.http.access import Caller
from commonplace.interfaces.http.problems import problem_of
from commonplace.interfaces.http.service import Service
from commonplace.ports.answers import Answer, Asked, Instead

KEPT = timedelta(days=1)
LONGEST_KEY = 255
LARGEST = 1_000_000
"""Bytes of an answer that is kept."""
KEPT_HEADERS = ("content-type", "etag", "location")


class Idempotency:
    def __init__(self, app: ASGIApp, *, service: Service, lease: float) -> None:
        """`lease` is how long a request may take: after that, whoever had it in hand is taken for dead."""
        self._app, self._service, self._lease = app, service, lease

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        key = Headers(scope=scope).get("idempotency-key") if scope["type"] == "http" else None
        if key is None or scope["method"] != "POST" or "caller" not in scope["state"]:
            await self._app(scope, receive, send)
            return
        try:
            asked = _asked(scope, key)
            instead = await self._service.answers.begin_answer(asked, now=self._service.now(), lease=self._lease)
            again = _again(instead)
        except CommonplaceError as error:
            await problem_of(error, request_id=scope["state"]["request_id"])(scope, receive, send)
            return
        if again is not None:
            await again(scope, receive, send)
            return
        scope["state"]["idempotency_key"] = f"{asked.owner}:{asked.key}"
        await self._answer(asked, scope, receive, send)

    async def _answer(self, asked: Asked, scope: Scope, receive: Receive, send: Send) -> None:
        kept = _Kept()

        async def sending(message: Message) -> None:
            kept.take(message)
            if kept.complete:  # before the last byte goes out: who has the answer can rely on it
                await self._keep(asked, kept, scope)
            await send(message)

        try:
            await self._app(scope, receive, sending)
        finally:
            if not kept.complete:
                await self._service.answers.drop_answer(asked)

    async def _keep(self, asked: Asked, kept: "_Kept", scope: Scope) -> None:
        answer, whose = kept.answer(), scope["state"].get("whose")
        if answer is None:
            await self._service.answers.drop_answer(asked)
            return
        assert whose is None or isinstance(whose, Whose)
        until = self._service.now() + KEPT
        await self._service.answers.keep_answer(asked, answer, whose=whose, until=until)


class _Kept:
    """What goes out, as far as it is worth keeping."""

    def __init__(self) -> None:
        self.status, self.headers, self.complete = 0, dict[str, str](), False
        self._body = bytearray()

    def take(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = Headers(raw=message.get("headers", []))
            self.status = message["status"]
            self.headers = {name: headers[name] for name in KEPT_HEADERS if name in headers}
        elif message["type"] == "http.response.body":
            if len(self._body) <= LARGEST:
                self._body += message.get("body", b"")
            self.complete = not message.get("more_body", False)

    def answer(self) -> Answer | None:
        if not 200 <= self.status < 300 or len(self._body) > LARGEST:
            return None
        return Answer(status=self.status, headers=self.headers, body=bytes(self._body))


def _asked(scope: Scope, key: str) -> Asked:
    if not key or len(key) > LONGEST_KEY:
        raise InvalidInput(f"Idempotency-Key: {len(key)} characters; expected 1 to {LONGEST_KEY}")
    caller = scope["state"]["caller"]
    assert isinstance(caller, Caller)
    digest = hashlib.sha256()
    for part in (scope["path"].encode("latin-1"), scope["query_string"], scope["state"]["body"]):
        digest.update(len(part).to_bytes(8, "big") + part)
    owner = f"{hashlib.sha256(caller.tenant.encode('utf-8', 'surrogatepass')).hexdigest()}:{caller.key}"
    return Asked(tenant=caller.tenant, owner=owner, key=key, digest=digest.digest())


def _again(instead: Instead | None) -> Response | None:
    match instead:
        case None:
            return None
        case Answer(status=status, headers=headers, body=body):
            return Response(body, status_code=status, headers={**headers, "Idempotent-Replayed": "true"})
        case "running":
            raise Conflict("a request with this Idempotency-Key is being worked on: try again in a moment")
        case "forgotten":
            raise Conflict("what a request with this Idempotency-Key was about has been forgotten since")
        case "another":
            raise InvalidInput("Idempotency-Key: it was used for another request; expected a new one")
