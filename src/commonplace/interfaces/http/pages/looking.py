"""What pages read of one user beside the methods of the memory: it is made from an access, so the key's limits hold."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from commonplace.domain.scope import Scope
from commonplace.domain.values import Fact, FactId, Message, MessageId, SessionId, Source, Summary
from commonplace.interfaces.http.access import Access
from commonplace.interfaces.http.pages.looked import Looked
from commonplace.interfaces.http.service import Service
from commonplace.ports.ledger import Ledger, MessageQuery
from commonplace.ports.upkeep import Grown, LedgerCounts


@dataclass(frozen=True, slots=True)
class Look:
    user: str | None
    now: datetime
    _ledger: Ledger
    _scope: Scope
    _looked: Looked

    async def versions(self) -> list[Fact]:
        """Return every version of every fact that has not expired."""
        found = await self._looked.versions(self._ledger, self._scope)
        return [fact for fact in found if fact.expires_at is None or fact.expires_at > self.now]

    async def believed(self) -> list[Fact]:
        return [fact for fact in await self.versions() if fact.retracted_at is None]

    async def saying(self, text: str) -> Sequence[Fact]:
        return await self._ledger.saying(self._scope, text)

    async def facts(self, ids: Sequence[FactId]) -> Mapping[FactId, Fact]:
        return await self._ledger.facts_by_id(self._scope, ids)

    async def sources(self, fact: FactId) -> Sequence[Source]:
        return await self._ledger.sources(self._scope, fact)

    async def messages(self, ids: Sequence[MessageId]) -> Mapping[MessageId, Message]:
        return await self._ledger.messages_by_id(self._scope, ids)

    async def latest(self, limit: int) -> Sequence[Message]:
        """Return the last messages, newest first."""
        return (await self._ledger.messages(self._scope, MessageQuery(limit=limit))).messages

    async def taught(self, messages: Sequence[MessageId]) -> Mapping[MessageId, Sequence[Fact]]:
        return await self._ledger.taught(self._scope, messages)

    async def summaries(self, session: SessionId | None = None) -> Sequence[Summary]:
        return await self._ledger.summaries(self._scope, session)

    async def counts(self) -> LedgerCounts:
        return await self._ledger.counts_of(self._scope)


def service_of(access: Access) -> Service:
    service = access.request.app.state.service
    assert isinstance(service, Service)
    return service


def _looked(access: Access) -> Looked:
    state = access.request.app.state
    if not hasattr(state, "looked"):
        state.looked = Looked()
    kept = state.looked
    assert isinstance(kept, Looked)
    return kept


def look(access: Access, named: str) -> Look:
    """Look at the user that a page names, if the key opens it."""
    user, service = access.user(named or None), service_of(access)
    return Look(user, service.now(), service.ledger, Scope(access.caller.tenant, user), _looked(access))


def looks(access: Access, scopes: Sequence[Scope]) -> list[Look]:
    """Look at some users of the tenant. Raises Forbidden for a key of one user."""
    access.everybody()
    service = service_of(access)
    return [Look(scope.user, service.now(), service.ledger, scope, _looked(access)) for scope in scopes]


async def users(access: Access) -> Sequence[Scope]:
    access.everybody()
    return [*await service_of(access).ledger.scopes(access.caller.tenant)]


async def counts(access: Access) -> LedgerCounts:
    access.everybody()
    return await service_of(access).ledger.counts(access.caller.tenant)


async def growth_of_all(access: Access) -> Sequence[Grown]:
    access.everybody()
    return await service_of(access).ledger.growth(access.caller.tenant)
