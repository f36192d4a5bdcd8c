"""The part of the ledger that knows how long things stay: `ports.retention`."""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from commonplace.adapters.postgres import retention
from commonplace.adapters.postgres.columns import Connection
from commonplace.domain.retention import Due, Hold
from commonplace.domain.scope import Scope
from commonplace.domain.values import FactId

T = TypeVar("T")


class PostgresRetaining(ABC):
    @abstractmethod
    async def _read(self, work: Callable[[Connection], Awaitable[T]], *, tenant: str | None) -> T: ...

    @abstractmethod
    async def _write(self, work: Callable[[Connection], Awaitable[T]], *, tenant: str | None) -> T: ...

    async def due_facts(self, scope: Scope, due: Due) -> Sequence[FactId]:
        return await self._read(lambda connection: retention.due_facts(connection, scope, due), tenant=scope.tenant)

    async def hold(self, scope: Scope, hold: Hold) -> Hold:
        return await self._write(lambda connection: retention.hold(connection, scope, hold), tenant=scope.tenant)

    async def release(self, scope: Scope) -> bool:
        return await self._write(lambda connection: retention.release(connection, scope), tenant=scope.tenant)

    async def holds(self, tenant: str) -> Sequence[Hold]:
        return await self._read(lambda connection: retention.holds(connection, tenant), tenant=tenant)
