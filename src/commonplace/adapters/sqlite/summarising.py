"""The part of the ledger that holds summaries: `ports.summaries` on its threads."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from commonplace.adapters.sqlite import summaries
from commonplace.adapters.sqlite.columns import Connection
from commonplace.domain.scope import Scope
from commonplace.domain.values import Message, MessageId, SessionId, Summary, SummaryId
from commonplace.ports.summaries import Unsummarised

T = TypeVar("T")


class SqliteSummarising(ABC):
    @abstractmethod
    async def _read(self, work: Callable[[Connection], T]) -> T: ...

    async def summaries(self, scope: Scope, session: SessionId | None = None) -> Sequence[Summary]:
        return await self._read(lambda connection: summaries.of_session(connection, scope, session))

    async def summaries_by_id(self, scope: Scope, ids: Sequence[SummaryId]) -> Mapping[SummaryId, Summary]:
        return await self._read(lambda connection: summaries.by_id(connection, scope, ids))

    async def covering(self, scope: Scope, messages: Sequence[MessageId]) -> Sequence[Summary]:
        return await self._read(lambda connection: summaries.covering(connection, scope, messages))

    async def unsummarised(self, scope: Scope, session: SessionId | None = None) -> Sequence[Unsummarised]:
        return await self._read(lambda connection: summaries.unsummarised(connection, scope, session))

    async def uncovered(self, scope: Scope, session: SessionId, *, limit: int) -> Sequence[Message]:
        return await self._read(lambda connection: summaries.uncovered(connection, scope, session, limit=limit))
