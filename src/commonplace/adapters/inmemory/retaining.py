"""Retention in dictionaries, with the promises of `ports.retention`."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from commonplace.adapters.inmemory.partition import Partition
from commonplace.domain.errors import OnHold
from commonplace.domain.retention import Due, Hold
from commonplace.domain.scope import Scope
from commonplace.domain.values import FactId

SAID_BY_HAND = {"remembered", "reinforced", "revised", "restored"}


class InMemoryRetaining:
    def __init__(self) -> None:
        super().__init__()
        self._partitions: dict[Scope, Partition] = {}
        self._holds: dict[Scope, Hold] = {}

    async def due_facts(self, scope: Scope, due: Due) -> Sequence[FactId]:
        held = self._partitions.get(scope, Partition(no=0))
        ids = dict.fromkeys(fact for fact, _ in sorted(held.facts, key=lambda key: held.facts[key].n))
        return [id_ for id_ in ids if _is_due(held, id_, due)]

    async def hold(self, scope: Scope, hold: Hold) -> Hold:
        return self._holds.setdefault(scope, hold)

    async def release(self, scope: Scope) -> bool:
        return self._holds.pop(scope, None) is not None

    async def holds(self, tenant: str) -> Sequence[Hold]:
        return [hold for scope, hold in self._holds.items() if scope.tenant == tenant]

    def _refuse_held(self, scope: Scope) -> None:
        if scope in self._holds:
            raise OnHold(scope.user, since=self._holds[scope].since)


def _is_due(held: Partition, id_: FactId, due: Due) -> bool:
    fact = list(held.versions_of(id_))[-1].fact
    if fact.expires_at is not None and fact.expires_at <= due.at:
        return True
    return fact.kind in due.said_before and max(_said(held, id_)) < due.said_before[fact.kind]


def _said(held: Partition, id_: FactId) -> Iterator[datetime]:
    yield list(held.versions_of(id_))[-1].fact.said_at
    yield from (held.messages[one.message][1].at for one in held.sources if one.fact == id_ and one.role == "said")
    yield from (
        one.at for one in held.history if one.fact == id_ and one.message is None and one.change in SAID_BY_HAND
    )
