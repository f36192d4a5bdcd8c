"""VectorIndex on PostgreSQL: the calls, on a small pool of connections that is opened when it is first needed."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Self, TypeVar

import psycopg
from psycopg import AsyncConnection
from psycopg.conninfo import conninfo_to_dict
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from commonplace.adapters.pgvector import tables
from commonplace.adapters.pgvector.tables import Collection, Connection, PackedVector, VectorDumper
from commonplace.domain.addresses import insist_on_ports
from commonplace.domain.errors import IndexUnavailable, InvalidInput
from commonplace.ports.index import Near
from commonplace.ports.ledger import Vector

T = TypeVar("T")

LARGE = 50_000
"""Rows from which on a collection has an HNSW of its own."""
OFTEN = 0.1
"""It is counted when so large a share of that has been added."""
ALIVE = {"keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3, "tcp_user_timeout": 25_000}
"""A server that is gone without a word is noticed within half a minute. What the address says about it is kept."""


class PgvectorIndex:
    def __init__(self, url: str, *, large: int = LARGE, timeout: float = 10.0, connections: int = 4) -> None:
        """`timeout` is in seconds, for a connection and for a statement."""
        try:
            parts = conninfo_to_dict(url)
        except psycopg.ProgrammingError as error:
            # libpq quotes what it could not decode, or all of the address, with the password: % itself is written %25.
            quotes, reason = "percent-encoded" in str(error), str(error).replace(url, "…").strip()
            told = "a % in it that encodes nothing; write it as %25" if quotes else reason
            raise InvalidInput(f"pgvector_url: {told}") from None
        insist_on_ports("pgvector_url", parts.get("port"))
        self._where = f"postgresql://{parts.get('host') or 'local'}/{parts.get('dbname') or ''}"
        self._url, self._large, self._timeout, self._connections = url, large, timeout, connections
        self._pool: AsyncConnectionPool[Connection] | None = None
        self._opening = asyncio.Lock()
        self._closed = False
        self._added: dict[str, int] = {}
        self._own: dict[str, Collection] = {}
        """Collections that are known to have a table of their own."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @property
    def name(self) -> str:
        return "pgvector"

    @property
    def owned(self) -> bool:
        return not self._closed

    def try_own(self) -> bool:
        return self.owned

    async def identity(self, collection: str) -> str:
        return f"{self.name}:{(await self._obtain(collection)).identity}"

    async def _obtain(self, collection: str) -> Collection:
        async def work(connection: Connection) -> Collection:
            return await tables.find(connection, collection) or await tables.obtain(connection, collection)

        return await self._run(work)

    async def upsert(self, collection: str, vectors: Mapping[int, Vector], *, identity: str | None = None) -> None:
        async def work(connection: Connection) -> Collection:
            async with connection.transaction():
                place = await tables.obtain(connection, collection)
                self._insist(identity, place)
                if vectors:
                    await tables.upsert(connection, place, vectors)
                return place

        place = await self._run(work)
        if place.dimensions is None:
            await self._grow(collection, len(vectors))

    async def remove(self, collection: str, numbers: Sequence[int]) -> None:
        async def work(connection: Connection) -> None:
            async with connection.transaction():
                place = await tables.find(connection, collection, lock="for share")
                if place is not None and numbers:
                    await tables.remove(connection, place, numbers)

        await self._run(work)

    async def search(
        self, collection: str, vector: Vector, *, limit: int, identity: str | None = None
    ) -> Sequence[Near]:
        async def work(connection: Connection) -> Sequence[Near]:
            place = self._own.get(collection)
            if place is None:
                found = await tables.search(connection, collection, vector, limit=limit)
                self._insist(identity, found and found.place)
                if found is None or found.place.dimensions is None:
                    return found.near if found else ()
                place = self._own[collection] = found.place
            self._insist(identity, place)
            return await tables.search_own(connection, place, vector, limit=limit)

        try:
            return await self._run(work)
        except IndexUnavailable:
            self._own.pop(collection, None)
            raise

    def _insist(self, identity: str | None, place: Collection | None) -> None:
        if identity is not None and (place is None or f"{self.name}:{place.identity}" != identity):
            raise IndexUnavailable(f"{self._named()}: the collection is not the one that was fed")

    async def numbers(self, collection: str) -> frozenset[int]:
        async def work(connection: Connection) -> frozenset[int]:
            place = await tables.find(connection, collection)
            return await tables.numbers(connection, place) if place else frozenset()

        return await self._at_one_moment(work)

    async def collections(self) -> Mapping[str, int]:
        return await self._at_one_moment(tables.sizes)

    async def drop(self, collection: str) -> None:
        async def work(connection: Connection) -> None:
            async with connection.transaction():
                await tables.drop(connection, collection)

        self._added.pop(collection, None)
        self._own.pop(collection, None)
        await self._run(work)

    async def erase(self, *collections: str) -> int:
        for collection in collections:
            await self.drop(collection)
        with self._in_our_words():
            async with await self._connect() as connection:  # of its own: it has no time-out
                await tables.rewrite(connection)
        return await self._at_one_moment(lambda connection: tables.left(connection, collections))

    async def close(self) -> None:
        self._closed = True
        async with self._opening:
            pool, self._pool = self._pool, None
        if pool is not None:
            await pool.close()

    async def _grow(self, collection: str, added: int) -> None:
        """Look whether a collection has become large: at first, and after a good many more rows."""

        async def work(connection: Connection) -> None:
            async with connection.transaction():
                await tables.grow(connection, collection, beyond=self._large)

        known = self._added.get(collection)
        self._added[collection] = (known or 0) + added
        if known is None or self._added[collection] >= self._large * OFTEN:
            self._added[collection] = 0
            await self._run(work)

    async def _at_one_moment(self, work: Callable[[Connection], Awaitable[T]]) -> T:
        """Read more than once, as if nothing were moved or dropped meanwhile."""

        async def moment(connection: Connection) -> T:
            async with connection.transaction():
                await connection.execute("set transaction isolation level repeatable read read only")
                return await work(connection)

        return await self._run(moment)

    async def _run(self, work: Callable[[Connection], Awaitable[T]]) -> T:
        """Every work can be done twice, so a connection that turns out to be cut is replaced and it is done again."""
        if self._closed:
            raise IndexUnavailable(f"{self._named()}: it is closed")
        with self._in_our_words():
            pool = await self._opened()
            try:
                async with pool.connection() as connection:
                    return await work(connection)
            except psycopg.OperationalError as error:
                if isinstance(error, PoolTimeout) or not connection.closed:
                    raise
            await pool.check()
            async with pool.connection() as connection:
                return await work(connection)

    @contextmanager
    def _in_our_words(self) -> Iterator[None]:
        try:
            yield
        except (psycopg.Error, PoolTimeout, OSError) as error:
            first = (str(error).strip().splitlines() or [type(error).__name__])[0]
            raise IndexUnavailable(f"{self._named()}: {first}") from error

    async def _opened(self) -> AsyncConnectionPool[Connection]:
        async with self._opening:
            if self._pool is None:
                async with await self._connect() as connection:
                    await tables.create(connection)
                pool: AsyncConnectionPool[Connection] = AsyncConnectionPool(
                    self._url,
                    connection_class=AsyncConnection[tuple[Any, ...]],
                    kwargs=self._options(),
                    min_size=0,
                    max_size=self._connections,
                    timeout=self._timeout,
                    reconnect_timeout=self._timeout,
                    configure=self._configure,
                    name="commonplace-index",
                    open=False,
                )
                await pool.open()
                self._pool = pool
            return self._pool

    async def _connect(self) -> Connection:
        return await AsyncConnection.connect(self._url, **self._options())

    def _options(self) -> dict[str, Any]:
        return {
            **{name: value for name, value in ALIVE.items() if name not in conninfo_to_dict(self._url)},
            "autocommit": True,
            "connect_timeout": max(2, round(self._timeout)),
            "application_name": "commonplace-index",
        }

    async def _configure(self, connection: Connection) -> None:
        connection.adapters.register_dumper(PackedVector, VectorDumper)
        await tables.see_vector(connection)
        await connection.execute(
            "select set_config('statement_timeout', %s, false), set_config('hnsw.ef_search', %s, false),"
            " set_config('hnsw.iterative_scan', 'strict_order', false)",
            (str(round(self._timeout * 1000)), str(tables.LOOKED_AT)),
        )

    def _named(self) -> str:
        return f"{self.name} ({self._where})"
