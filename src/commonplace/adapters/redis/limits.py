"""Counts of requests in Redis, for the limits of a service with several processes."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from limits.aio.storage import RedisStorage, Storage

from commonplace.adapters.redis.server import Access, pool


@asynccontextmanager
async def open_storage(access: Access) -> AsyncIterator[Storage]:
    """Yield a storage whose failures are `limits.errors.StorageError`."""
    connections = pool(access)
    storage = RedisStorage(
        "async+redis://",  # the connections know the address
        implementation="redispy",
        wrap_exceptions=True,
        key_prefix="commonplace:limits",
        connection_pool=connections,  # type: ignore[arg-type]  # passed on as it is
    )
    try:
        yield storage
    finally:
        await connections.disconnect()
