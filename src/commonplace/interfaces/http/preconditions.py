"""ETag and If-Match: who changes something can say what they have read, and is refused if it is no longer that.

Requests about one user that carry If-Match follow each other within this process, so that what was compared is what is
changed.
"""

import asyncio
import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated
from weakref import WeakValueDictionary

from fastapi import Header

from commonplace.domain.scope import Scope
from commonplace.interfaces.http.problems import ChangedMeanwhile
from commonplace.interfaces.http.wire import encoded

IfMatch = Annotated[
    str | None,
    Header(
        description="The ETag of what was read: refused if it has changed since.",
        examples=['"0f1e2d3c4b5a69788796a5b4c3d2e1f0"'],
    ),
]

_locks: WeakValueDictionary[tuple[int, Scope], asyncio.Lock] = WeakValueDictionary()


def etag_of(value: object) -> str:
    return f'"{hashlib.sha256(encoded(value)).hexdigest()[:32]}"'


@asynccontextmanager
async def in_turn(scope: Scope) -> AsyncIterator[None]:
    """Keep others who change something of this user out, meanwhile."""
    lock = _locks.setdefault((id(asyncio.get_running_loop()), scope), asyncio.Lock())
    async with lock:
        yield


def check(if_match: str | None, current: str | None) -> None:
    """Raise ChangedMeanwhile unless the condition holds. `current` is None where nothing is there."""
    if if_match is None:
        return
    named = [tag.strip() for tag in if_match.split(",")]
    if current is None or ("*" not in named and current not in named):
        raise ChangedMeanwhile(f"If-Match: {if_match[:100]}: expected {current or 'nothing: there is none'}")
