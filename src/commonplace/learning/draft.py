"""What is to be written about facts. The engine adds the index entries, and writes it all in one transaction."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from commonplace.domain.values import ChangeKind, Fact, FactChange, FactId, Source
from commonplace.ports.ledger import ClosedVersion, Reinforced


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One fact before and after: None before is a new one, None after is one no longer believed."""

    before: Fact | None
    after: Fact | None
    replaced_by: FactId | None = None
    """What was put in the place of a fact that is no longer believed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    closed: tuple[ClosedVersion, ...] = ()
    facts: tuple[Fact, ...] = ()
    """First or further versions; each needs an index entry."""
    reinforced: tuple[Reinforced, ...] = ()
    sources: tuple[Source, ...] = ()
    history: tuple[FactChange, ...] = ()
    steps: tuple[Step, ...] = ()
    """What it takes to undo it."""


def drafted(
    steps: Sequence[Step], *, now: datetime, sources: Sequence[Source] = (), history: Sequence[FactChange] = ()
) -> Draft:
    """Return the versions that the steps close and write. Two versions with one number differ in confidence only."""
    reinforced = [step for step in steps if step.before and step.after and step.before.version == step.after.version]
    changed = [step for step in steps if step not in reinforced]
    return Draft(
        closed=tuple(
            ClosedVersion(
                fact=step.before.id, version=step.before.version, retracted_at=now, replaced_by=step.replaced_by
            )
            for step in changed
            if step.before and step.before.retracted_at is None
        ),
        facts=tuple(step.after for step in changed if step.after),
        reinforced=tuple(
            Reinforced(fact=step.after.id, version=step.after.version, confidence=step.after.confidence)
            for step in reinforced
            if step.after
        ),
        sources=tuple(sources),
        history=tuple(history),
        steps=tuple(steps),
    )


def by_hand(step: Step, change: ChangeKind, *, now: datetime, reason: str) -> Draft:
    fact = step.after or step.before
    assert fact is not None
    told = FactChange(fact=fact.id, version=fact.version, change=change, at=now, reason=reason)
    return drafted([step], now=now, history=[told])


def next_version(fact: Fact, *, after: int, now: datetime) -> Fact:
    """Return the fact as the version after number `after`, known from now on."""
    return replace(fact, version=after + 1, recorded_at=now, retracted_at=None)
