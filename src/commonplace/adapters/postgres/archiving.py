"""The part of the ledger that is read and written whole: `ports.archive`."""

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import TypeVar

from commonplace.adapters.postgres import archive_reading, archive_writing
from commonplace.adapters.postgres.columns import Connection, text_column
from commonplace.adapters.postgres.database import Database
from commonplace.adapters.postgres.full_text import Unpack
from commonplace.domain.archive import Held, Record, Written
from commonplace.domain.scope import Scope
from commonplace.ports.models import unheld

T = TypeVar("T")


class PostgresArchiving(ABC):
    _database: Database
    _unpack: Unpack | None

    @abstractmethod
    async def _read(self, work: Callable[[Connection], Awaitable[T]], *, tenant: str | None) -> T: ...

    @abstractmethod
    async def _write(self, work: Callable[[Connection], Awaitable[T]], *, tenant: str | None) -> T: ...

    async def read_archive(
        self, scope: Scope | None = None, *, passages: bool = True
    ) -> AsyncGenerator[Sequence[Record], None]:
        with self._database.in_our_words():
            async with self._moment(None if scope is None else scope.tenant) as connection:
                async for batch in archive_reading.records(connection, scope, passages=passages):
                    if batch:
                        yield batch

    async def write_archive(self, scope: Scope, records: Sequence[Held], *, model: str | None = None) -> Written:
        work = partial(archive_writing.write, scope=scope, records=records, unpack=self._unpack, model=model)
        return await unheld(lambda: self._write(work, tenant=scope.tenant))

    @asynccontextmanager
    async def _moment(self, tenant: str | None) -> AsyncIterator[Connection]:
        """A connection of its own, not to keep one of the pool from others, in a transaction that sees one moment."""
        await self._read(_nothing, tenant=tenant)  # refuses when the ledger is closed
        async with await self._database.connect() as connection:
            await connection.execute("begin isolation level repeatable read read only")
            await connection.execute(
                "select set_config('commonplace.tenant', %s, true), set_config('commonplace.every_tenant', %s, true),"
                # Who reads it may be slow, such as who sends it on.
                " set_config('idle_in_transaction_session_timeout', '0', true)",
                (text_column(tenant or ""), "on" if tenant is None else "off"),
            )
            yield connection


async def _nothing(connection: Connection) -> None:
    return None
