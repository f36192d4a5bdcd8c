"""Server-sent events: named, with JSON as their data."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from fastapi import Request
from fastapi.sse import KEEPALIVE_COMMENT, format_sse_event

from commonplace.domain.plain import encoded

QUIET = 15.0
"""Seconds of silence after which a comment is sent, so that nobody in between takes the stream for dead."""


def event(name: str, value: object) -> bytes:
    return format_sse_event(event=name, data_str=encoded(value).decode())


async def until_gone(events: AsyncIterator[bytes], request: Request, closing: asyncio.Event) -> AsyncIterator[bytes]:
    """Yield the events, and a sign of life between them, until the caller has gone or the service is to end."""
    steps = aiter(events)
    following: asyncio.Future[bytes] | None = None
    ending = asyncio.ensure_future(closing.wait())
    try:
        while not await request.is_disconnected():
            following = following or asyncio.ensure_future(anext(steps))
            both: list[asyncio.Future[Any]] = [following, ending]
            await asyncio.wait(both, timeout=QUIET, return_when=asyncio.FIRST_COMPLETED)
            if following.done():
                step, following = following, None
                yield step.result()
            elif ending.done():
                return
            else:
                yield KEEPALIVE_COMMENT
    except StopAsyncIteration:
        return
    finally:
        ending.cancel()
        if following is not None:
            following.cancel()
