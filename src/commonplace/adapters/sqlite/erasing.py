"""The part of the ledger that forgets: `ports.erasure` on its threads."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from typing import TypeVar, cast

from commonplace.adapters.sqlite import erasure, erasure_log, full_text
from commonplace.adapters.sqlite.columns import Connection
from commonplace.adapters.sqlite.database import Database
from commonplace.adapters.sqlite.full_text import Unpack
from commonplace.domain.errors import LedgerUnavailable
from commonplace.domain.receipts import Part, Receipt
from commonplace.domain.scope import Scope
from commonplace.domain.values import FactId, MessageId, SessionId
from commonplace.ports.erasure import Erased, Removal

T = TypeVar("T")


class _Undone(Exception):  # noqa: N818 - no error: it ends the transaction of a dry run
    def __init__(self, result: object) -> None:
        self.result = result


class SqliteErasing(ABC):
    _database: Database
    _unpack: Unpack | None

    @abstractmethod
    async def _read(self, work: Callable[[Connection], T]) -> T: ...

    @abstractmethod
    async def _write(self, work: Callable[[Connection], T]) -> T: ...

    @abstractmethod
    async def _write_alone(self, work: Callable[[Connection], T]) -> T: ...

    async def chosen(self, scope: Scope, what: Part) -> Sequence[MessageId]:
        return await self._read(lambda connection: erasure.chosen(connection, scope, what))

    async def touched(self, scope: Scope, messages: Sequence[MessageId]) -> Sequence[FactId]:
        return await self._read(lambda connection: erasure.touched(connection, scope, messages))

    async def sessions_before(self, scope: Scope, moment: datetime) -> Sequence[SessionId]:
        return await self._read(lambda connection: erasure.sessions_before(connection, scope, moment))

    async def erase(self, scope: Scope, removal: Removal, *, dry_run: bool = False) -> Erased:
        work = partial(erasure.erase, scope=scope, removal=removal, unpack=self._unpack)
        return await self._tried(work) if dry_run else await self._write(work)

    async def erase_tenant(
        self, tenant: str, *, at: datetime, new_id: Callable[[], str], dry_run: bool = False
    ) -> Sequence[Erased]:
        work = partial(erasure.erase_tenant, tenant=tenant, at=at, new_id=new_id, unpack=self._unpack)
        return await self._tried(work) if dry_run else await self._write(work)

    async def _tried(self, work: Callable[[Connection], T]) -> T:
        """Return what it would have done, and undo it."""
        try:
            return await self._write(partial(_undone, work=work))
        except _Undone as undone:
            return cast(T, undone.result)

    async def pending_erasures(self) -> Sequence[Erased]:
        return await self._read(erasure_log.pending)

    async def scrub(self) -> Sequence[str]:
        await self._write_alone(_scrub)
        return ()

    async def remains(self, erased: Erased) -> int:
        return await self._read(lambda connection: erasure_log.remains(connection, erased))

    async def conclude(self, receipt: Receipt, erased: Erased) -> Receipt:
        return await self._write(lambda connection: erasure_log.conclude(connection, receipt, erased))

    async def add_snapshot_place(self, place: str, *, latest: str) -> None:
        await self._write(lambda connection: erasure_log.add_place(connection, place))
        self._database.note_way_back(f"commonplace restore {latest} --from {place} --into NEW-FOLDER")

    async def snapshot_places(self) -> Sequence[str]:
        return await self._read(erasure_log.places)

    async def receipts(self, scope: Scope) -> Sequence[Receipt]:
        return await self._read(lambda connection: erasure_log.receipts(connection, scope))


def _undone(connection: Connection, work: Callable[[Connection], T]) -> T:
    raise _Undone(work(connection))


def _scrub(connection: Connection) -> None:
    """Write the database anew and empty its log.

    `secure_delete` overwrites what is deleted, but not the copies that SQLite leaves in the unused middle of a page
    when it splits one in two (20,000 rows of 39 users on pages of 4 KB: 2 copies of what one user had said were left).
    So only a new file is free of traces.
    """
    if full_text.exists(connection):
        connection.execute("insert into full_text (full_text) values ('optimize')")
    connection.execute("vacuum")
    busy, _, _ = connection.execute("pragma wal_checkpoint(truncate)").fetchone()
    if busy:
        raise LedgerUnavailable("another process is reading, so the log of the database could not be emptied")
