"""Facts by hand: remember, revise, retract, restore. No extraction, the same history."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from commonplace.domain.errors import Conflict, InvalidInput, NotFound
from commonplace.domain.scope import Scope
from commonplace.domain.times import Expiry
from commonplace.domain.values import Fact, FactChange, FactId, FactKind, Metadata
from commonplace.engine.committing import Committing, Decide
from commonplace.engine.parts import Parts
from commonplace.learning.commit import restore, retract, revise
from commonplace.learning.draft import Draft
from commonplace.ports.ledger import Reinforced


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A fact as somebody writes it."""

    text: str
    kind: FactKind
    importance: float
    confidence: float
    valid_from: datetime | None
    valid_to: datetime | None
    expires_at: datetime | None
    metadata: Metadata


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """What is to be different about a fact. None leaves it as it is."""

    text: str | None
    metadata: Metadata | None
    expires_at: Expiry

    def of(self, fact: Fact) -> Fact:
        given = self.metadata or {}
        kept = {name: value for name, value in fact.metadata.items() if name not in given}
        added = {name: value for name, value in given.items() if value is not None}
        expires_at = fact.expires_at if self.expires_at is None else self.expires_at
        return replace(
            fact,
            text=self.text or fact.text,
            metadata={**kept, **added},
            expires_at=None if expires_at == "never" else expires_at,
        )


class ByHand:
    def __init__(self, parts: Parts, committing: Committing) -> None:
        self._parts, self._committing = parts, committing

    async def remember(self, scope: Scope, statement: Statement) -> Fact:
        """Write a fact. One that says the same already is reinforced instead."""
        if statement.valid_from and statement.valid_to and statement.valid_to <= statement.valid_from:
            raise InvalidInput(f"valid_to={statement.valid_to}: expected a moment after {statement.valid_from}")

        async def decide() -> Sequence[Draft]:
            now = self._parts.now()
            known = await self._parts.ledger.saying(scope, statement.text)
            same = next((fact for fact in known if _says(fact, statement)), None)
            return [_again(same, statement, now) if same else _first(statement, FactId(self._parts.new_id()), now)]

        return await self._done(scope, decide)

    async def revise(
        self, scope: Scope, fact_id: FactId, revision: Revision, *, reason: str, expected: Fact | None
    ) -> Fact:
        if revision == Revision(text=None, metadata=None, expires_at=None):
            raise InvalidInput("revise: nothing is given; expected text, metadata or expires_at")

        def draft(fact: Fact, now: datetime) -> Draft:
            return revise(fact, revision.of(fact), now=now, reason=reason)

        return await self._change(scope, fact_id, draft, expected=expected)

    async def retract(self, scope: Scope, fact_id: FactId, *, reason: str, expected: Fact | None) -> Fact:
        def draft(fact: Fact, now: datetime) -> Draft:
            return retract(fact, now=now, reason=reason)

        return await self._change(scope, fact_id, draft, expected=expected)

    async def restore(self, scope: Scope, fact_id: FactId, *, reason: str, expected: Fact | None) -> Fact:
        def draft(fact: Fact, now: datetime) -> Draft:
            return restore(fact, now=now, reason=reason)

        return await self._change(scope, fact_id, draft, expected=expected)

    async def _change(
        self, scope: Scope, fact_id: FactId, draft: Callable[[Fact, datetime], Draft], *, expected: Fact | None
    ) -> Fact:
        async def decide() -> Sequence[Draft]:
            # What is compared here is what is changed: the ledger refuses the write if a fact changed since.
            found = await self._parts.ledger.facts_by_id(scope, [fact_id])
            if fact_id not in found:
                raise NotFound("fact", fact_id)
            if expected is not None and found[fact_id] != expected:
                raise Conflict(f"fact {fact_id!r} has changed since it was read")
            return [draft(found[fact_id], self._parts.now())]

        return await self._done(scope, decide)

    async def _done(self, scope: Scope, decide: Decide) -> Fact:
        (draft,) = await self._committing.commit(scope, decide)
        fact_id = draft.history[-1].fact
        return (await self._parts.ledger.facts_by_id(scope, [fact_id]))[fact_id]


def _says(fact: Fact, statement: Statement) -> bool:
    """Whether a fact with the same words is this statement: of the same kind and time. A date makes it another one."""
    same_time = (fact.valid_from, fact.valid_to) == (statement.valid_from, statement.valid_to)
    return same_time and fact.kind == statement.kind


def _first(statement: Statement, fact_id: FactId, now: datetime) -> Draft:
    fact = Fact(
        id=fact_id,
        text=statement.text,
        kind=statement.kind,
        confidence=statement.confidence,
        importance=statement.importance,
        said_at=now,
        valid_from=statement.valid_from,
        valid_to=statement.valid_to,
        recorded_at=now,
        metadata=statement.metadata,
        expires_at=statement.expires_at,
    )
    return Draft(facts=(fact,), history=(FactChange(fact=fact_id, version=1, change="remembered", at=now),))


def _again(fact: Fact, statement: Statement, now: datetime) -> Draft:
    """Reinforce what is known; where importance, expiry or metadata differ, a next version says so."""
    wanted = replace(
        fact, importance=statement.importance, expires_at=statement.expires_at, metadata=statement.metadata
    )
    if wanted != fact:
        return revise(fact, wanted, now=now, reason="remembered again")
    sure = Reinforced(fact=fact.id, version=fact.version, confidence=max(fact.confidence, statement.confidence))
    told = FactChange(fact=fact.id, version=fact.version, change="reinforced", at=now, reason="remembered again")
    return Draft(reinforced=(sure,), history=(told,))
