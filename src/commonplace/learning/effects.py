"""What a decision does to the facts: reconcile sees its own decisions through it, and commit writes them.

A fact that decision number 2 of a list brings into being is called "@2" by the later ones, until commit gives it an id.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NamedTuple, assert_never

from commonplace.domain.claims import Claim, Decision, Ends, Ignored, New, Refines, Replaces, Same
from commonplace.domain.values import ChangeKind, Fact, FactId, Source
from commonplace.learning.timeline import Hearings, Span, moments, remains

MOST_SURE = 0.99
"""However often it is said, a fact from a conversation can be wrong."""
NEGATION = "not "


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """One fact before and after a decision: None before is a new fact, None after is one no longer believed."""

    change: ChangeKind
    before: Fact | None
    after: Fact | None
    replaced_by: FactId | None = None
    sources: tuple[Source, ...] = ()
    """Sources that come along from another fact."""
    resumed: bool = False
    """It rests on those sources alone: the message of the decision did not say it."""


Name = Callable[[str], FactId]
"""Gives the id for a provisional one."""


def effects(
    decision: Decision,
    facts: Mapping[FactId, Fact],
    *,
    number: int,
    said_at: datetime,
    heard: Hearings,
    name: Name = FactId,
) -> list[Effect]:
    """Return what a decision does, given the facts as they stand after the decisions before it."""
    own = f"@{number}"
    match decision:
        case New(claim, valid_from=start, valid_to=stop):
            new = _learned(claim, name(own), said_at, Span(start=start, stop=stop))
            return _ended_by(decision.ended_by, new, facts, heard)
        case Same(claim, known):
            return [_reinforced(facts[known], claim)]
        case Replaces(claim, since=since, valid_to=stop):
            span = Span(start=None if decision.open_start else since, stop=stop)
            resumes = stop is not None and stop == claim.valid_to
            gap = Gap(span, heard, name, own, resumes=resumes, replaced_by=name(own))
            take = _drop if decision.mistaken else _cut
            old = [effect for one in decision.known for effect in take(facts[one], gap)]
            new = _learned(claim, name(own), said_at, span)
            return [*_ended_by(decision.ended_by, new, facts, heard), *old]
        case Ends(known=known, since=since, until=until):
            gap = Gap(Span(start=since, stop=until), heard, name, own)
            return [effect for one in known for effect in _cut(facts[one], gap)]
        case Refines(known=known):
            return [_refined(decision, facts[known])]
        case Ignored():
            return []
        case _:
            assert_never(decision)


def applied(facts: Mapping[FactId, Fact], done: Sequence[Effect]) -> dict[FactId, Fact]:
    """Return the facts that are believed after the effects."""
    state = dict(facts)
    for effect in done:
        if effect.after:
            state[effect.after.id] = effect.after
        elif effect.before:
            del state[effect.before.id]
    return state


def surer(confidence: float, again: float) -> float:
    return max(confidence, min(MOST_SURE, 1 - (1 - confidence) * (1 - again)))


def recorded_attribute(claim: Claim) -> str:
    """Return the attribute of the fact a claim becomes: that it is not so is recorded beside what is so."""
    return claim.attribute if claim.standing in ("holds", "corrects") else NEGATION + claim.attribute


def _learned(claim: Claim, own: FactId, said_at: datetime, span: Span) -> Effect:
    fact = Fact(
        id=own,
        text=claim.text,
        kind=claim.kind,
        confidence=claim.confidence,
        importance=claim.importance,
        said_at=said_at,
        valid_from=span.start,
        valid_to=span.stop,
        recorded_at=said_at,
        subject=claim.subject,
        attribute=recorded_attribute(claim),
        value=claim.value,
    )
    return Effect(change="learned", before=None, after=fact)


def _ended_by(denial: FactId | None, new: Effect, facts: Mapping[FactId, Fact], heard: Hearings) -> list[Effect]:
    """The words that only said that it is over become the words that ended it. What they said before it began stays."""
    if denial is None or new.after is None:
        return [new]
    own, start, fact = new.after.id, new.after.valid_from, facts[denial]
    later = [hearing for hearing in heard.get(denial, ()) if hearing.at > new.after.said_at]
    sources = tuple(replace(hearing.source, fact=own, role="ended") for hearing in later)
    before, _ = remains(fact, Span(start=start, stop=None), heard, resumes=False)
    told_before = before is not None and len(later) < len(heard.get(denial, ()))
    rest = replace(fact, valid_to=start, replaced_by=own) if told_before else None
    change: ChangeKind = "replaced" if rest else "retracted"
    return [replace(new, sources=sources), Effect(change=change, before=fact, after=rest, replaced_by=own)]


def _reinforced(fact: Fact, claim: Claim) -> Effect:
    after = replace(fact, confidence=surer(fact.confidence, claim.confidence))
    return Effect(change="reinforced", before=fact, after=after)


def _refined(decision: Refines, fact: Fact) -> Effect:
    claim = decision.claim
    start, stop = decision.valid_from or fact.valid_from, decision.valid_to or fact.valid_to
    after = replace(
        fact,
        text=claim.text if decision.reworded else fact.text,
        value=claim.value if decision.reworded else fact.value,
        confidence=surer(fact.confidence, claim.confidence),
        importance=max(fact.importance, claim.importance),
        valid_from=start,
        valid_to=stop if start is None or stop is None or start < stop else None,
    )
    return Effect(change="refined", before=fact, after=after)


class Gap(NamedTuple):
    """A stretch of time in which facts did not hold, with what is needed to cut it out of them."""

    span: Span
    heard: Hearings
    name: Name
    own: str
    resumes: bool = False
    replaced_by: FactId | None = None


def _drop(fact: Fact, gap: Gap) -> list[Effect]:
    return [Effect(change="retracted", before=fact, after=None, replaced_by=gap.replaced_by)]


def _cut(fact: Fact, gap: Gap) -> list[Effect]:
    before, after = remains(fact, gap.span, gap.heard, resumes=gap.resumes)
    if before is None and after is None:
        return _drop(fact, gap)
    if before is None and after:
        return [Effect(change="revised", before=fact, after=replace(fact, valid_from=after.start))]
    closed = replace(fact, valid_to=gap.span.start, replaced_by=gap.replaced_by)
    done = [Effect(change="replaced" if gap.replaced_by else "ended", before=fact, after=closed)]
    return [*done, _resumed(fact, after, gap)] if after else done


def _resumed(fact: Fact, span: Span, gap: Gap) -> Effect:
    """A fact that was said again after the gap goes on as a fact of its own, resting on what was said then."""
    own = gap.name(f"{gap.own}.{fact.id}")
    every = [hearing for hearing in gap.heard.get(fact.id, ()) if hearing.source.role == "said"]
    later = [hearing for hearing in every if hearing.at >= (span.start or fact.said_at)] or every
    again = replace(
        fact,
        id=own,
        version=1,
        valid_from=span.start,
        said_at=min((hearing.at for hearing in later), default=moments(fact, gap.heard)[-1]),
        sources=(),
    )
    sources = tuple(replace(hearing.source, fact=own) for hearing in later)
    return Effect(change="learned", before=None, after=again, sources=sources, resumed=bool(sources))
