"""From decisions to what is written. Nothing is overwritten: a fact that ends gets a next version with its end in it.

So a question `as_of` a moment before the message still sees it open.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from commonplace.domain.claims import Decision, Ends, Refines, Replaces, Same
from commonplace.domain.errors import InvalidInput
from commonplace.domain.values import ChangeKind, Fact, FactChange, FactId, Message, Source
from commonplace.learning.draft import Draft, Step, by_hand, drafted, next_version
from commonplace.learning.effects import Effect, applied, effects, recorded_attribute
from commonplace.learning.timeline import Hearings

_SAID: frozenset[ChangeKind] = frozenset({"learned", "reinforced", "refined"})
_ENDED: frozenset[ChangeKind] = frozenset({"ended", "replaced", "retracted"})


@dataclass(frozen=True, slots=True)
class _Done:
    effect: Effect
    decision: Decision

    @property
    def id(self) -> FactId:
        fact = self.effect.after or self.effect.before
        assert fact is not None
        return fact.id


def commit(
    decisions: Sequence[Decision],
    known: Sequence[Fact],
    *,
    message: Message,
    now: datetime,
    new_id: Callable[[], str],
    extractor: str,
    heard: Hearings | None = None,
) -> Draft:
    """Return what to write. `known` and `heard` are what `reconcile` was given for this message."""
    before = {fact.id: fact for fact in known}
    done, after = _carry_out(decisions, before, new_id, message.at, heard or {})
    done = [each for each in done if each.id in before or each.id in after]
    sources = list(dict.fromkeys(source for each in done for source in _sources(each, message)))
    steps: dict[FactId, Step] = {}
    for one in dict.fromkeys(each.id for each in done):
        final = after.get(one)
        stamped = final and _stamped(final, before.get(one), sources, message, extractor)
        steps[one] = _step(one, before.get(one), stamped, done, now)
    history = [_told(each, steps[each.id], message, now) for each in done]
    return drafted([*steps.values()], now=now, sources=sources, history=history)


def revise(fact: Fact, revised: Fact, *, now: datetime, reason: str = "") -> Draft:
    """Return a next version of a fact as somebody wants it by hand: `revised` has the new fields."""
    _refuse_retracted(fact, "revised")
    if revised.id != fact.id:
        raise InvalidInput(f"id={revised.id!r}: expected that of the fact to revise, {fact.id!r}")
    if revised.valid_from and revised.valid_to and revised.valid_to <= revised.valid_from:
        raise InvalidInput(f"valid_to={revised.valid_to}: expected a moment after valid_from={revised.valid_from}")
    step = Step(before=fact, after=next_version(revised, after=fact.version, now=now))
    return by_hand(step, "revised", now=now, reason=reason)


def retract(fact: Fact, *, now: datetime, reason: str = "") -> Draft:
    """Close a fact without a successor: it is no longer believed, and kept as history."""
    _refuse_retracted(fact, "retracted")
    return by_hand(Step(before=fact, after=None), "retracted", now=now, reason=reason)


def restore(last: Fact, *, now: datetime, reason: str = "") -> Draft:
    """Undo a retraction: a next version that is equal to `last`, the latest one."""
    if last.retracted_at is None:
        raise InvalidInput(f"fact {last.id!r}: is still believed; only a retracted fact can be restored")
    step = Step(before=last, after=next_version(replace(last, replaced_by=None), after=last.version, now=now))
    return by_hand(step, "restored", now=now, reason=reason)


def _refuse_retracted(fact: Fact, wanted: str) -> None:
    if fact.retracted_at is not None:
        raise InvalidInput(f"fact {fact.id!r}: was retracted; restore it before it can be {wanted}")


def _carry_out(
    decisions: Sequence[Decision],
    before: Mapping[FactId, Fact],
    new_id: Callable[[], str],
    said_at: datetime,
    heard: Hearings,
) -> tuple[list[_Done], Mapping[FactId, Fact]]:
    """Return every effect, and the facts that are believed in the end, with the provisional ids made real."""
    names: dict[str, FactId] = {}

    def name(provisional: str) -> FactId:
        if provisional not in names:
            names[provisional] = FactId(new_id())
        return names[provisional]

    done: list[_Done] = []
    facts: Mapping[FactId, Fact] = before
    for number, decision in enumerate(decisions):
        meant = _resolved(decision, names)
        results = effects(meant, facts, number=number, name=name, said_at=said_at, heard=heard)
        facts = applied(facts, results)
        done += [_Done(effect, meant) for effect in results]
    return done, facts


def _resolved(decision: Decision, names: Mapping[str, FactId]) -> Decision:
    match decision:
        case Same() | Refines():
            return replace(decision, known=names.get(decision.known, decision.known))
        case Replaces() | Ends():
            return replace(decision, known=tuple(names.get(one, one) for one in decision.known))
    return decision


def _sources(done: _Done, message: Message) -> Iterator[Source]:
    yield from done.effect.sources
    change, claim = done.effect.change, done.decision.claim
    if done.effect.resumed or change not in _SAID | _ENDED:
        return
    source = Source(fact=done.id, message=message.id, start=claim.start, stop=claim.stop)
    after = done.effect.after
    told_over = change == "reinforced" and after is not None and after.attribute != recorded_attribute(claim)
    yield replace(source, role="ended") if told_over or change in _ENDED else source


def _stamped(fact: Fact, before: Fact | None, sources: Sequence[Source], message: Message, extractor: str) -> Fact:
    """Return the fact with what it takes from its message: metadata, when it expires, and who read it."""
    said = [source.message for source in sources if source.fact == fact.id and source.role == "said"]
    fact = replace(fact, sources=tuple(dict.fromkeys([*(before.sources if before else ()), *said])))
    if before is None and message.id in said:
        return replace(fact, metadata=message.metadata, expires_at=message.expires_at, extractor=extractor)
    return replace(fact, extractor=extractor) if before and before.text != fact.text else fact


def _step(one: FactId, before: Fact | None, after: Fact | None, done: Sequence[_Done], now: datetime) -> Step:
    if after is None:
        replaced_by = next((each.effect.replaced_by for each in done if each.id == one and not each.effect.after), None)
        return Step(before=before, after=None, replaced_by=replaced_by)
    if before is None:
        return Step(before=None, after=replace(after, recorded_at=now))
    if replace(after, confidence=before.confidence, sources=before.sources) == before:
        return Step(before=before, after=after)
    return Step(before=before, after=next_version(after, after=before.version, now=now))


def _told(done: _Done, step: Step, message: Message, now: datetime) -> FactChange:
    fact = step.after or step.before
    assert fact is not None
    return FactChange(
        fact=fact.id,
        version=fact.version,
        change=done.effect.change,
        at=now,
        reason=done.decision.reason,
        message=message.id,
    )
