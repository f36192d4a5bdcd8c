"""The outer edge: request ids, headers that every answer has, one line in the log, and no exception that gets out.

The path is routed as it was sent, not decoded: an encoded slash stays inside its segment, so no name can be taken for
another path. `routes.paths` decodes each segment once.
"""

import logging
import re
import time
import uuid
from collections.abc import Callable

from opentelemetry import trace
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from commonplace.interfaces.http.observing import TRACER, operation_of
from commonplace.interfaces.http.problems import problem_of

LOG = logging.getLogger("commonplace.http")
REQUEST_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}")
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
"""Set unless the answer has its own, as a page with scripts does."""

Observe = Callable[[Scope, int, float], None]


class Edge:
    def __init__(self, app: ASGIApp, observe: Observe) -> None:
        """`observe` is told of each answer: its request, its status, and the seconds until it was complete."""
        self._app, self._observe = app, observe

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id = _request_id(scope)
        state = scope.setdefault("state", {})
        state["request_id"] = request_id
        scope["path"] = scope.get("raw_path", scope["path"].encode()).partition(b"?")[0].decode("latin-1")
        began, status = time.perf_counter(), 0
        span = TRACER.start_span("request")

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                _dress(message, request_id)
            await send(message)

        try:
            with trace.use_span(span, record_exception=False, set_status_on_exception=False):
                await self._app(scope, receive, sending)
        except Exception as error:
            # The traceback quotes code, never values; the words of a foreign error might quote content.
            quiet = RuntimeError(type(error).__name__).with_traceback(error.__traceback__)
            LOG.error("request %s failed", request_id, exc_info=quiet)  # noqa: TRY400 - not this one's words
            if not status:
                await problem_of(error, request_id=request_id)(scope, receive, sending)
            else:
                raise
        finally:
            self._observe(scope, status, time.perf_counter() - began)
            span.set_attributes({"http.response.status_code": status, "commonplace.request_id": request_id})
            span.update_name(operation_of(scope))
            span.end()


_RAW = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]


def _dress(message: Message, request_id: str) -> None:
    given = [(name, value) for name, value in message.get("headers", ()) if name != b"x-request-id"]
    names = {name for name, _ in given}
    own = [(name, value) for name, value in _RAW if name not in names]
    message["headers"] = [*given, (b"x-request-id", request_id.encode()), *own]


def _request_id(scope: Scope) -> str:
    given = next((value for name, value in scope["headers"] if name == b"x-request-id"), b"").decode("latin-1")
    return given if REQUEST_ID.fullmatch(given) else uuid.uuid4().hex
