"""How large a request may be, and how long it may take until its answer begins. A stream may then go on."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from commonplace.interfaces.http.problems import TooLarge, TooSlow, problem_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    max_body: int
    timeout: float


class Bounds:
    def __init__(self, app: ASGIApp, *, usual: Bound, by_prefix: Mapping[str, Bound]) -> None:
        """`by_prefix` are the paths with bounds of their own."""
        self._app, self._usual, self._by_prefix = app, usual, by_prefix

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        path = scope["path"]
        bound = next((own for prefix, own in self._by_prefix.items() if path.startswith(prefix)), self._usual)
        try:
            async with asyncio.timeout(bound.timeout) as limit:
                scope["state"]["body"] = body = await _read(scope, receive, bound.max_body)

                async def sending(message: Message) -> None:
                    if message["type"] == "http.response.start":
                        limit.reschedule(None)
                    await send(message)

                await self._app(scope, _given(body, receive), sending)
        except TooLarge as error:
            await problem_of(error, request_id=scope["state"]["request_id"])(scope, receive, send)
        except TimeoutError:
            late = TooSlow(f"no answer within {bound.timeout:g} seconds")
            await problem_of(late, request_id=scope["state"]["request_id"])(scope, receive, send)


async def _read(scope: Scope, receive: Receive, max_body: int) -> bytes:
    """Return the whole body, and never hold more of it than is allowed."""
    length = next((value for name, value in scope["headers"] if name == b"content-length"), b"")
    if length.isdigit() and int(length) > max_body:
        raise TooLarge(f"{int(length):,} bytes; expected at most {max_body:,}")
    chunks, size, more = [], 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            break
        chunk, more = message.get("body", b""), message.get("more_body", False)
        size += len(chunk)
        if size > max_body:
            raise TooLarge(f"more than {max_body:,} bytes; expected at most so many")
        chunks.append(chunk)
    return b"".join(chunks)


def _given(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that gives the body at once, and then what follows: that the caller has gone."""
    given = False

    async def receiving() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receiving
