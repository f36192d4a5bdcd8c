"""What several processes share in front of the ledger: Redis, where one is named."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, NamedTuple

from commonplace.domain.errors import Unavailable
from commonplace.domain.extras import needing
from commonplace.ports.ledger import Ledger
from commonplace.ports.recent import Recent
from commonplace.ports.shared import SharedCopies
from commonplace.wiring.access import secret

if TYPE_CHECKING:
    from limits.aio.storage import Storage

    from commonplace.adapters.redis.server import Access
    from commonplace.settings import Settings


class Fronted(NamedTuple):
    ledger: Ledger
    recent: Recent | None = None
    copies: SharedCopies | None = None


@asynccontextmanager
async def open_front(settings: "Settings", ledger: Ledger) -> AsyncIterator[Fronted]:
    """Yield the ledger, with Redis in front of it if one is named. A server that is away is no error."""
    if settings.redis_url is None:
        yield Fronted(ledger)
        return
    access = redis_access(settings)
    from commonplace.adapters.redis.ledger import open_front as open_redis

    async with open_redis(ledger, access, ring=settings.ring) as front:
        yield Fronted(*front)


@asynccontextmanager
async def open_limits(settings: "Settings") -> AsyncIterator["Storage | None"]:
    """Yield where requests are counted for all processes; None where each counts its own."""
    if settings.redis_url is None:
        yield None
        return
    access = redis_access(settings)
    from commonplace.adapters.redis.limits import open_storage

    async with open_storage(access) as storage:
        yield storage


def redis_access(settings: "Settings") -> "Access":
    with needing("redis", "redis_url", Unavailable):
        from commonplace.adapters.redis.server import Access
    assert settings.redis_url is not None
    return Access(
        url=settings.redis_url,
        username=settings.redis_username,
        password=secret(settings.redis_password),
        ca_file=settings.redis_ca_file,
        timeout=settings.redis_timeout,
    )
