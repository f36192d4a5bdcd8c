"""The part of the ledger that holds summaries: `ports.summaries`."""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TypeVar

from commonplace.adapters.postgres import summaries
from commonplace.adapters.postgres.columns import Connection
from commonplace.domain.scope import Scope
from commonplace.domain.values import Message, MessageId, SessionId, Summary, SummaryId
from commonplace.ports.summaries import Unsummarised

T = TypeVar("T")


class PostgresSummarising(ABC):
    @abstractmethod
    async def _read(self, work: Callable[[Connection], Awaitable[T]], *, tenant: str | None) -> T: ...

    async def summaries(self, scope: Scope, session: SessionId | None = None) -> Sequence[Summary]:
        return await self._read(
            lambda connection: summaries.of_session(connection, scope, session), tenant=scope.tenant
        )

    async def summaries_by_id(self, scope: Scope, ids: Sequence[SummaryId]) -> Mapping[SummaryId, Summary]:
        return await self._read(lambda connection: summaries.by_id(connection, scope, ids), tenant=scope.tenant)

    async def covering(self, scope: Scope, messages: Sequence[MessageId]) -> Sequence[Summary]:
        return await self._read(lambda connection: summaries.covering(connection, scope, messages), tenant=scope.tenant)

    async def unsummarised(self, scope: Scope, session: SessionId | None = None) -> Sequence[Unsummarised]:
        return await self._read(
            lambda connection: summaries.unsummarised(connection, scope, session), tenant=scope.tenant
        )

    async def uncovered(self, scope: Scope, session: SessionId, *, limit: int) -> Sequence[Message]:
        return await self._read(
            lambda connection: summaries.uncovered(connection, scope, session, limit=limit), tenant=scope.tenant
        )
