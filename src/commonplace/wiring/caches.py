"""What several processes share in front of the ledger: Redis, where one is named."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, NamedTuple, cast

from commonplace.domain.errors import Unavailable
from commonplace.ports.ledger import Ledger
from commonplace.ports.recent import Recent
from commonplace.wiring.access import secret

if TYPE_CHECKING:
    from commonplace.adapters.redis.server import Access
    from commonplace.settings import Settings


class Fronted(NamedTuple):
    ledger: Ledger
    recent: Recent | None = None


@asynccontextmanager
async def open_front(settings: "Settings", ledger: Ledger) -> AsyncIterator[Fronted]:
    """Yield the ledger, with Redis in front of it if one is named. A server that is away is no error."""
    if settings.redis_url is None:
        yield Fronted(ledger)
        return
    access = redis_access(settings)
    from commonplace.adapters.redis.ledger import fronted
    from commonplace.adapters.redis.server import Server

    async with Server(access) as server:
        front = fronted(ledger, server, ring=settings.ring)
        yield Fronted(front, cast(Recent, front))


def redis_access(settings: "Settings") -> "Access":
    try:
        from commonplace.adapters.redis.server import Access
    except ImportError as error:
        raise Unavailable("redis_url needs more packages: pip install 'commonplace[redis]'") from error
    assert settings.redis_url is not None
    return Access(
        url=settings.redis_url,
        username=settings.redis_username,
        password=secret(settings.redis_password),
        ca_file=settings.redis_ca_file,
        timeout=settings.redis_timeout,
    )
