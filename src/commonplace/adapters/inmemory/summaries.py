"""Summaries in dictionaries, with the promises of `ports.summaries`."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

from commonplace.adapters.inmemory.partition import Partition
from commonplace.domain.scope import Scope
from commonplace.domain.values import Message, MessageId, SessionId, Summary, SummaryId
from commonplace.ports.summaries import Unsummarised


class InMemorySummaries(ABC):
    @abstractmethod
    def _find(self, scope: Scope) -> Partition: ...

    async def summaries(self, scope: Scope, session: SessionId | None = None) -> Sequence[Summary]:
        held = sorted(self._find(scope).summaries.values(), key=lambda one: (one.summary.until, one.n))
        return [one.summary for one in held if session in (None, one.summary.session)]

    async def summaries_by_id(self, scope: Scope, ids: Sequence[SummaryId]) -> Mapping[SummaryId, Summary]:
        held = self._find(scope).summaries
        return {id_: held[id_].summary for id_ in ids if id_ in held}

    async def covering(self, scope: Scope, messages: Sequence[MessageId]) -> Sequence[Summary]:
        held = await self.summaries(scope)
        found = (one for id_ in messages for one in held if id_ in one.messages)
        return list({summary.id: summary for summary in found}.values())

    async def unsummarised(self, scope: Scope, session: SessionId | None = None) -> Sequence[Unsummarised]:
        said: dict[SessionId, list[Message]] = {}
        for message in self._uncovered(scope):
            if message.session is not None and session in (None, message.session):
                said.setdefault(message.session, []).append(message)
        found = [
            Unsummarised(name, len(some), sum(len(one.text) for one in some), max(one.at for one in some))
            for name, some in said.items()
        ]
        return sorted(found, key=lambda one: (one.until, one.session))

    async def uncovered(self, scope: Scope, session: SessionId, *, limit: int) -> Sequence[Message]:
        return [message for message in self._uncovered(scope) if message.session == session][:limit]

    def _uncovered(self, scope: Scope) -> list[Message]:
        held = self._find(scope)
        covered = {message for one in held.summaries.values() for message in one.summary.messages}
        said = sorted((message.at, n, message.id) for n, message in held.messages.values())
        return [held.messages[id_][1] for _, _, id_ in said if id_ not in covered]
