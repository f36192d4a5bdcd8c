"""How large a request may be, and how long it may take until its answer begins. A stream may then go on."""

import asyncio

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from commonplace.interfaces.http.problems import TooLarge, TooSlow, problem_of


class Bounds:
    def __init__(self, app: ASGIApp, *, max_body: int, timeout: float) -> None:
        self._app, self._max_body, self._timeout = app, max_body, timeout

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            async with asyncio.timeout(self._timeout) as limit:
                scope["state"]["body"] = body = await self._read(scope, receive)

                async def sending(message: Message) -> None:
                    if message["type"] == "http.response.start":
                        limit.reschedule(None)
                    await send(message)

                await self._app(scope, _given(body, receive), sending)
        except TooLarge as error:
            await problem_of(error, request_id=scope["state"]["request_id"])(scope, receive, send)
        except TimeoutError:
            late = TooSlow(f"no answer within {self._timeout:g} seconds")
            await problem_of(late, request_id=scope["state"]["request_id"])(scope, receive, send)

    async def _read(self, scope: Scope, receive: Receive) -> bytes:
        """Return the whole body, and never hold more of it than is allowed."""
        length = next((value for name, value in scope["headers"] if name == b"content-length"), b"")
        if length.isdigit() and int(length) > self._max_body:
            raise TooLarge(f"{int(length):,} bytes; expected at most {self._max_body:,}")
        chunks, size, more = [], 0, True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                break
            chunk, more = message.get("body", b""), message.get("more_body", False)
            size += len(chunk)
            if size > self._max_body:
                raise TooLarge(f"more than {self._max_body:,} bytes; expected at most so many")
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
