"""How often a key may ask, by what it asks for. Counted in this process, or in Redis for several."""

import math
import time
from collections.abc import Mapping
from typing import Literal, NamedTuple

from limits import RateLimitItem, parse
from limits.aio.storage import MemoryStorage, Storage
from limits.aio.strategies import FixedWindowRateLimiter
from limits.errors import StorageError

ALONE = 2.0
"""Seconds that requests are counted here when the shared count could not be had."""

RouteClass = Literal["read", "write", "costly"]

READING_POSTS = ("/v1/recall", "/v1/context", "/v1/why-not")
COSTLY = (
    "/chat",
    "/v1/consolidate",
    "/v1/doctor",
    "/v1/export",
    "/v1/forget",
    "/v1/import",
    "/v1/purge",
    "/v1/reindex",
    "/v1/relearn",
    "/v1/snapshots",
    "/openai/",
    "/anthropic/",
)


class Turn(NamedTuple):
    """Whether a request may go on, and what to tell about the next ones."""

    granted: bool
    headers: Mapping[str, str]


class Limiter:
    def __init__(self, limits: Mapping[RouteClass, str], *, shared: Storage | None = None) -> None:
        """`limits` are like `600/minute`. `shared` counts for all processes; while it is away, each counts alone."""
        self._items: Mapping[RouteClass, RateLimitItem] = {name: parse(limit) for name, limit in limits.items()}
        self._own = FixedWindowRateLimiter(MemoryStorage())
        self._shared = None if shared is None else FixedWindowRateLimiter(shared)
        self._alone_until = 0.0

    async def turn(self, who: str, method: str, path: str) -> Turn:
        """Count a request, unless there were too many."""
        if self._shared is not None and time.monotonic() >= self._alone_until:
            try:
                return await self._turn(self._shared, who, class_of(method, path))
            except StorageError:
                self._alone_until = time.monotonic() + ALONE
        return await self._turn(self._own, who, class_of(method, path))

    async def _turn(self, counter: FixedWindowRateLimiter, who: str, what: RouteClass) -> Turn:
        item = self._items[what]
        granted = await counter.hit(item, who, what)
        reset, remaining = await counter.get_window_stats(item, who, what)
        seconds = str(max(math.ceil(reset - time.time()), 0 if granted else 1))
        headers = {
            "RateLimit-Limit": str(item.amount),
            "RateLimit-Policy": f'"{what}";q={item.amount};w={item.get_expiry()}',
            "RateLimit-Remaining": str(max(remaining, 0)),
            "RateLimit-Reset": seconds,
        }
        return Turn(granted, headers if granted else {**headers, "Retry-After": seconds})


def class_of(method: str, path: str) -> RouteClass:
    if path.startswith(COSTLY):
        return "costly"
    return "read" if method in ("GET", "HEAD") or path in READING_POSTS else "write"
