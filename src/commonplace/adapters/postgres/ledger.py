"""The Ledger port on a PostgreSQL database.

Each call is one transaction on a connection of a pool; what it does is in the module named after its part of the port.
A transaction says whose tenant's it is, and the database holds it to that; `tenant=None` is for work that is nobody's.
"""

from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from importlib.resources.abc import Traversable
from typing import Self, TypeVar

from commonplace.adapters.postgres.columns import Connection
from commonplace.adapters.postgres.database import MIGRATIONS, Database
from commonplace.adapters.postgres.lanes import Lanes
from commonplace.domain.errors import Closed

T = TypeVar("T")
Unpack = Callable[[bytes], "list[int]"]


class PostgresLedger:
    """A ledger in one database, open for the length of `async with`."""

    def __init__(
        self,
        url: str,
        *,
        pool_size: int = 10,
        statement_timeout: float = 30.0,
        patience: float = 10.0,
        embeddings_kept: int = 20_000,
        unpack: Unpack | None = None,
        migrations: Traversable = MIGRATIONS,
    ) -> None:
        """`patience` is how many seconds a call waits for a connection, or for the server to come back.

        `unpack` reads the terms of an entry; without it there is no full text.
        """
        self._database = Database(
            url=url,
            pool_size=pool_size,
            statement_timeout=statement_timeout,
            patience=patience,
            migrations=migrations,
        )
        self._embeddings_kept = embeddings_kept
        self._unpack = unpack
        self._open = AsyncExitStack()
        self._lanes: Lanes | None = None
        self._name = ""

    async def __aenter__(self) -> Self:
        try:
            with self._database.in_our_words():
                pool = await self._open.enter_async_context(self._database.pool())
            self._lanes = Lanes(pool, self._database)
            self._name = await self._read(_name, tenant=None)
        except BaseException:
            await self.__aexit__()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        self._lanes = None
        await self._open.aclose()

    def _opened(self) -> Lanes:
        if self._lanes is None:
            raise Closed("the ledger is not open")
        return self._lanes

    async def _read(self, work: Callable[[Connection], Awaitable[T]], *, tenant: str | None) -> T:
        with self._database.in_our_words():
            return await self._opened().read(work, tenant=tenant)

    async def _write(self, work: Callable[[Connection], Awaitable[T]], *, tenant: str | None) -> T:
        with self._database.in_our_words():
            return await self._opened().write(work, tenant=tenant)

    async def _write_alone(self, work: Callable[[Connection], Awaitable[T]]) -> T:
        with self._database.in_our_words():
            return await self._opened().run_alone(work)

    @property
    def name(self) -> str:
        return self._name


async def _name(connection: Connection) -> str:
    (name,) = await (await connection.execute("select value from meta where key = 'name'")).fetchone() or ("",)
    return str(name)
