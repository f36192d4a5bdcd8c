"""The part of the ledger that is read and written whole: `ports.archive` on its threads."""

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from itertools import islice
from typing import TypeVar

from commonplace.adapters.sqlite import archive_reading, archive_writing
from commonplace.adapters.sqlite.columns import Connection
from commonplace.adapters.sqlite.database import Database
from commonplace.adapters.sqlite.full_text import Unpack
from commonplace.adapters.sqlite.lanes import Lane
from commonplace.domain.archive import Held, Record, Written
from commonplace.domain.scope import Scope
from commonplace.ports.models import unheld

T = TypeVar("T")

BATCH = 256


class SqliteArchiving(ABC):
    _database: Database
    _unpack: Unpack | None

    @abstractmethod
    async def _read(self, work: Callable[[Connection], T]) -> T: ...

    @abstractmethod
    async def _write(self, work: Callable[[Connection], T]) -> T: ...

    async def read_archive(
        self, scope: Scope | None = None, *, passages: bool = True
    ) -> AsyncGenerator[Sequence[Record], None]:
        if self._database.path is None:
            # It has one connection, and nobody may be kept from it for long: read at once what is in memory anyway.
            everything = await self._read(
                lambda connection: list(archive_reading.records(connection, scope, passages=passages))
            )
            for start in range(0, len(everything), BATCH):
                yield everything[start : start + BATCH]
            return
        async with self._own_thread() as lane:
            records = await lane.run_alone(lambda connection: _begun(connection, scope, passages=passages))
            while batch := await lane.run_alone(lambda _: list(islice(records, BATCH))):
                yield batch

    async def write_archive(self, scope: Scope, records: Sequence[Held], *, model: str | None = None) -> Written:
        def work(connection: Connection) -> Written:
            return archive_writing.write(connection, scope, records, unpack=self._unpack, model=model)

        return await unheld(lambda: self._write(work))

    @asynccontextmanager
    async def _own_thread(self) -> AsyncGenerator[Lane, None]:
        """A connection of its own, for a transaction that stays open between the batches."""
        await self._read(lambda connection: None)  # refuses when the ledger is closed
        lane = Lane(self._database.reader, begin="begin", translate=self._database.translate)
        try:
            yield lane
        finally:
            await lane.stop()


def _begun(connection: Connection, scope: Scope | None, *, passages: bool) -> Iterator[Record]:
    connection.execute("begin")
    return archive_reading.records(connection, scope, passages=passages)
