"""Undo what a Draft did: the facts are as they were before. Knowledge time keeps the trace of both."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from commonplace.domain.errors import Conflict
from commonplace.domain.values import ChangeKind, Fact, FactChange, FactId
from commonplace.learning.draft import Draft, Step, drafted, next_version


def undo(steps: Sequence[Step], latest: Mapping[FactId, Fact], *, now: datetime, reason: str = "undone") -> Draft:
    """Return what brings back the facts as they were before these steps of a Draft.

    `latest` has the latest version of each fact of the steps, believed or not. Raises Conflict if one has been changed
    since: that change must be undone first.
    """
    back = [_back(step, latest, now) for step in steps]
    return drafted(back, now=now, history=[_told(step, now, reason) for step in back])


def _back(step: Step, latest: Mapping[FactId, Fact], now: datetime) -> Step:
    fact = step.after or step.before
    assert fact is not None
    current = latest[fact.id]
    believed = current if current.retracted_at is None else None
    if not _equal(believed, step.after):
        raise Conflict(f"fact {fact.id!r} has been changed since, to version {current.version}: undo that first")
    if step.before is None or step.before.retracted_at is not None:
        return Step(before=current, after=None, replaced_by=step.before.replaced_by if step.before else None)
    if step.after and step.before.version == step.after.version:
        return Step(before=current, after=replace(current, confidence=step.before.confidence))
    return Step(before=current, after=next_version(step.before, after=current.version, now=now))


def _equal(left: Fact | None, right: Fact | None) -> bool:
    """Tell whether two versions say the same. An undone change leaves a higher number and the same words."""
    if left is None or right is None:
        return left is right
    return replace(left, version=0, recorded_at=right.recorded_at, sources=()) == replace(right, version=0, sources=())


def _told(step: Step, now: datetime, reason: str) -> FactChange:
    fact = step.after or step.before
    assert fact is not None
    change: ChangeKind = "restored" if step.after else "retracted"
    return FactChange(fact=fact.id, version=fact.version, change=change, at=now, reason=reason)
