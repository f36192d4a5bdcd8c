"""The part of the ledger that forgets: `ports.erasure`."""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from functools import partial
from typing import TypeVar, cast

from commonplace.adapters.postgres import erasure, erasure_log, scrubbing
from commonplace.adapters.postgres.columns import Connection
from commonplace.domain.receipts import Part, Receipt
from commonplace.domain.scope import Scope
from commonplace.domain.values import FactId, MessageId, SessionId
from commonplace.ports.erasure import Erased, Removal

T = TypeVar("T")


class _Undone(Exception):  # noqa: N818 - no error: it ends the transaction of a dry run
    def __init__(self, result: object) -> None:
        self.result = result


class PostgresErasing(ABC):
    _rewrite_up_to: int

    @abstractmethod
    async def _read(self, work: Callable[[Connection], Awaitable[T]], *, tenant: str | None) -> T: ...

    @abstractmethod
    async def _write(self, work: Callable[[Connection], Awaitable[T]], *, tenant: str | None) -> T: ...

    @abstractmethod
    async def _write_alone(self, work: Callable[[Connection], Awaitable[T]]) -> T: ...

    async def chosen(self, scope: Scope, what: Part) -> Sequence[MessageId]:
        return await self._read(lambda connection: erasure.chosen(connection, scope, what), tenant=scope.tenant)

    async def touched(self, scope: Scope, messages: Sequence[MessageId]) -> Sequence[FactId]:
        return await self._read(lambda connection: erasure.touched(connection, scope, messages), tenant=scope.tenant)

    async def sessions_before(self, scope: Scope, moment: datetime) -> Sequence[SessionId]:
        return await self._read(
            lambda connection: erasure.sessions_before(connection, scope, moment), tenant=scope.tenant
        )

    async def erase(self, scope: Scope, removal: Removal, *, dry_run: bool = False) -> Erased:
        work = partial(erasure.erase, scope=scope, removal=removal)
        return await (self._tried if dry_run else self._write)(work, tenant=scope.tenant)

    async def erase_tenant(
        self, tenant: str, *, at: datetime, new_id: Callable[[], str], dry_run: bool = False
    ) -> Sequence[Erased]:
        work = partial(erasure.erase_tenant, tenant=tenant, at=at, new_id=new_id)
        return await (self._tried if dry_run else self._write)(work, tenant=tenant)

    async def _tried(self, work: Callable[[Connection], Awaitable[T]], *, tenant: str | None) -> T:
        """Return what it would have done, and undo it."""
        try:
            return await self._write(partial(_undone, work=work), tenant=tenant)
        except _Undone as undone:
            return cast(T, undone.result)

    async def pending_erasures(self) -> Sequence[Erased]:
        return await self._read(erasure_log.pending, tenant=None)

    async def scrub(self) -> Sequence[str]:
        return await self._write_alone(partial(scrubbing.scrub, rewrite_up_to=self._rewrite_up_to))

    async def remains(self, erased: Erased) -> int:
        return await self._read(lambda connection: erasure_log.remains(connection, erased), tenant=erased.scope.tenant)

    async def conclude(self, receipt: Receipt, erased: Erased) -> Receipt:
        return await self._write(
            lambda connection: erasure_log.conclude(connection, receipt, erased), tenant=erased.scope.tenant
        )

    async def add_snapshot_place(self, place: str, *, latest: str) -> None:
        await self._write(lambda connection: erasure_log.add_place(connection, place), tenant=None)

    async def snapshot_places(self) -> Sequence[str]:
        return await self._read(erasure_log.places, tenant=None)

    async def receipts(self, scope: Scope) -> Sequence[Receipt]:
        return await self._read(lambda connection: erasure_log.receipts(connection, scope), tenant=scope.tenant)


async def _undone(connection: Connection, work: Callable[[Connection], Awaitable[T]]) -> T:
    raise _Undone(await work(connection))
