"""What would be known if everything were learned anew, against what is known: added, removed, changed. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from commonplace.domain.values import ChangeKind, Fact, FactChange, FactId, Source
from commonplace.learning.draft import Draft, Step, drafted, next_version

Key = tuple[str, str, str]
ANEW = "learned anew by"


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    added: tuple[Fact, ...] = ()
    removed: tuple[Fact, ...] = ()
    changed: tuple[tuple[Fact, Fact], ...] = ()
    """Each as it is, and as it would be."""


def key_of(fact: Fact) -> Key:
    """What makes two facts one: whom they are about, what of, and the value."""
    return fact.subject, fact.attribute, fact.value.casefold()


def is_relearning(change: FactChange) -> bool:
    return ANEW in change.reason


def rebuilt(drafts: Sequence[Draft]) -> list[Fact]:
    """Return the facts that are believed after all drafts, from nothing."""
    facts: dict[FactId, Fact] = {}
    for draft in drafts:
        for step in draft.steps:
            if step.before is not None:
                facts.pop(step.before.id, None)
            if step.after is not None:
                facts[step.after.id] = step.after
    return list(facts.values())


def difference(current: Sequence[Fact], anew: Sequence[Fact]) -> Difference:
    """Compare what was learned with what would be. Two facts of one key are paired in the order of time."""
    there, wanted = _grouped(current), _grouped(anew)
    added: list[Fact] = []
    removed: list[Fact] = []
    changed: list[tuple[Fact, Fact]] = []
    for key in dict.fromkeys([*there, *wanted]):
        old, new = _unpaired(there.get(key, []), wanted.get(key, []))
        changed += zip(old, new, strict=False)
        removed += old[len(new) :]
        added += new[len(old) :]
    return Difference(added=tuple(added), removed=tuple(removed), changed=tuple(changed))


def drafted_difference(
    found: Difference, *, now: datetime, sources: Mapping[FactId, Sequence[Source]], extractor: str
) -> Draft:
    """Return what turns what is known into what was learned anew. `sources` are those of the facts learned anew."""
    steps: list[Step] = []
    history: list[FactChange] = []
    rests_on: list[Source] = []
    reason = f"{ANEW} {extractor}"
    for fact in found.removed:
        steps.append(Step(before=fact, after=None))
        history.append(
            FactChange(fact=fact.id, version=fact.version, change="retracted", at=now, reason=f"not {reason}")
        )
    for old, new in found.changed:
        revised = replace(next_version(new, after=old.version, now=now), id=old.id)
        steps.append(Step(before=old, after=revised))
        own = [replace(source, fact=old.id) for source in sources.get(new.id, ())]
        rests_on += own
        history.append(_told(revised, own, change="refined", now=now, reason=reason))
    for fact in found.added:
        first = replace(fact, version=1, recorded_at=now)
        steps.append(Step(before=None, after=first))
        rests_on += sources.get(fact.id, ())
        history.append(_told(first, sources.get(fact.id, ()), change="learned", now=now, reason=reason))
    return drafted(steps, now=now, sources=rests_on, history=history)


def _told(fact: Fact, sources: Sequence[Source], *, change: ChangeKind, now: datetime, reason: str) -> FactChange:
    message = sources[-1].message if sources else None
    return FactChange(fact=fact.id, version=fact.version, change=change, at=now, reason=reason, message=message)


def _grouped(facts: Sequence[Fact]) -> dict[Key, list[Fact]]:
    groups: dict[Key, list[Fact]] = {}
    for fact in facts:
        groups.setdefault(key_of(fact), []).append(fact)
    return groups


def _unpaired(current: Sequence[Fact], anew: Sequence[Fact]) -> tuple[list[Fact], list[Fact]]:
    """Take out the facts that say the same in both, and return the others."""
    old, new = list(current), list(anew)
    for fact in current:
        same = next((other for other in new if _says(other) == _says(fact)), None)
        if same is not None:
            new.remove(same)
            old.remove(fact)
    return sorted(old, key=_begin), sorted(new, key=_begin)


def _says(fact: Fact) -> tuple[object, ...]:
    return fact.text, fact.kind, fact.valid_from, fact.valid_to, fact.expires_at


def _begin(fact: Fact) -> float:
    return fact.valid_from.timestamp() if fact.valid_from else float("-inf")
