"""Decide what each claim means for what is known. Pure: the engine fetches the known facts and commits the decisions.

A claim meets only facts about the same thing: the other values of a single-valued attribute, or the opposite of the
same value. "It is not so" is a fact of its own, under the attribute `not …`, when there is nothing for it to end.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from commonplace.domain.attributes import attribute_named
from commonplace.domain.claims import Claim, Decision, Ends, Ignored, New, Refines, Replaces, Same
from commonplace.domain.values import Fact, FactId, Message
from commonplace.learning.effects import NEGATION, applied, effects, recorded_attribute
from commonplace.learning.likeness import compare, more_said
from commonplace.learning.meets import (
    Alike,
    Setting,
    denials,
    dependents,
    facts_meant,
    holds_after,
    holds_at,
    is_negative,
    is_pair,
    needed_attributes,
    only_denies,
    own_facts,
    relate,
    rival_facts,
    same_facts,
    succeeding,
)
from commonplace.learning.timeline import ALWAYS, Hearings, Place, Span, begin, finish, moments, place

MARGIN = 0.3
"""So much less sure than what was said at the same time, and a claim gives way."""

UNSURE = 0.5
"""An end that is less sure than this counts only where there is something that it ends: "Miso died" may be news."""


def needs(claims: Iterable[Claim]) -> list[tuple[str, str]]:
    """Return the (subject, attribute) pairs whose facts `reconcile` must be given."""
    pairs = dict.fromkeys((claim.subject, name) for claim in claims for name in needed_attributes(claim))
    return list(pairs)


def to_hear(claims: Iterable[Claim], known: Sequence[Fact], *, message: Message) -> list[FactId]:
    """Return the facts of which `reconcile` must know when they were said, and said to be over.

    None for a message of now, unless it tells of a stretch of the past: nothing was said later than it.
    """
    if any(claim.valid_to and claim.valid_to <= message.at and not is_negative(claim) for claim in claims):
        return [fact.id for fact in known]
    if message.at >= message.recorded_at:
        return []
    return [fact.id for fact in known if len(fact.sources) > 1 or fact.valid_to or fact.attribute.startswith(NEGATION)]


def said_once(decisions: Sequence[Decision], known: Sequence[Fact], *, message: Message) -> list[Decision]:
    """Ignore what a message was read to say before: read twice, it is not said twice, and nothing is surer for it."""
    taught = {fact.id for fact in known if message.id in fact.sources}
    return [
        Ignored(one.claim, "read out of the same message before")
        if isinstance(one, Same) and one.known in taught
        else one
        for one in decisions
    ]


def reconcile(
    claims: Sequence[Claim],
    known: Sequence[Fact],
    *,
    said_at: datetime,
    alike: Alike | None = None,
    heard: Hearings | None = None,
) -> list[Decision]:
    """Return the decisions for the claims of one message, in order: often one for a claim, sometimes two or three.

    `known` are the believed facts, ended ones included, of the pairs that `needs` names. `heard` says when they were
    said, for those that `to_hear` names.
    """
    hearings = heard or {}
    facts: Mapping[FactId, Fact] = {fact.id: fact for fact in known}
    renewed = frozenset((claim.subject, claim.attribute) for claim in claims if not is_negative(claim))
    ended: dict[tuple[str, str], datetime] = {}
    left: Fact | None = None
    decisions: list[Decision] = []
    for at, claim in enumerate(claims):
        claim = succeeding(claim, left) or claim
        setting = Setting([*facts.values()], said_at, hearings, alike, renewed, ended)
        for number, decision in enumerate(_decide(claim, claims[:at], claims[at + 1 :], setting)):
            if isinstance(decision, Ends):
                gone = facts[decision.known[0]]
                ended[claim.subject, gone.attribute] = decision.since
                left = left if number else gone
            done = effects(decision, facts, number=len(decisions), said_at=said_at, heard=hearings)
            facts = applied(facts, done)
            decisions.append(decision)
    return decisions


def _decide(claim: Claim, before: Sequence[Claim], after: Sequence[Claim], setting: Setting) -> list[Decision]:
    if any(_repeats(claim, other) for other in before):
        return [Ignored(claim, "said twice in one message")]
    if any(_corrects(other, claim) for other in after):
        return [Ignored(claim, "corrected in the same message")]
    if is_negative(claim):
        return _decide_end(claim, setting)
    if claim.follows and claim.confidence < UNSURE:
        return [Ignored(claim, "nothing known that it could follow")]
    if claim.standing == "corrects":
        return _decide_correction(claim, setting)
    return _decide_holding(claim, setting)


def _repeats(claim: Claim, other: Claim) -> bool:
    key = (claim.subject, recorded_attribute(claim))
    return key == (other.subject, recorded_attribute(other)) and compare(claim.value, other.value) in ("same", "less")


def _corrects(later: Claim, claim: Claim) -> bool:
    same_pair = (later.subject, later.attribute) == (claim.subject, claim.attribute)
    return later.standing == "corrects" and same_pair and attribute_named(claim.attribute).single


def _decide_holding(claim: Claim, setting: Setting) -> list[Decision]:
    same = same_facts(claim, setting)
    rivals = rival_facts(claim, setting, same=same)
    moved = _moved(claim, same, setting)
    if moved:
        return [moved]
    start = claim.valid_from or setting.ended.get((claim.subject, claim.attribute))
    told = Span(start=start, stop=claim.valid_to)
    spot = place(told, said_at=setting.said_at, same=same, rivals=rivals, heard=setting.heard)
    if spot.overruled_by:
        return [_overruled(claim, spot.overruled_by, same)]
    if spot.holder:
        return [_said_again(claim, spot.holder, spot, setting)]
    surer = _surer(claim, spot.displaced, setting)
    if surer:
        return [Ignored(claim, f"less sure than what was said at the same time: {surer.text}")]
    if spot.follower:
        return _begins_earlier(claim, spot, spot.follower)
    return [_begins(claim, same, spot)]


def _begins(claim: Claim, same: Sequence[Fact], spot: Place) -> Decision:
    """A denial that was said later, and that now turns out to be the end of this, is taken up in it."""
    denial = next((fact.id for fact in spot.later if only_denies(claim, fact)), None)
    spot = replace(spot, displaced=tuple(fact for fact in spot.displaced if fact.id != denial))
    if spot.displaced:
        return replace(_replaces(claim, spot), ended_by=denial)
    start = None if spot.open_start else spot.since
    return New(claim, _why_new(same, spot), valid_from=start, valid_to=spot.stop, ended_by=denial)


def _replaces(claim: Claim, spot: Place) -> Replaces:
    return Replaces(
        claim,
        tuple(fact.id for fact in spot.displaced),
        spot.since,
        _why_replaced(claim, spot),
        valid_to=spot.stop,
        open_start=spot.open_start,
    )


def _overruled(claim: Claim, later: Fact, same: Sequence[Fact]) -> Decision:
    if later in same:
        return Same(claim, later.id, f"known already, since {_day(later.valid_from)}")
    return Ignored(claim, f"what was said later covers that time: {later.text}")


def _said_again(claim: Claim, known: Fact, spot: Place, setting: Setting) -> Decision:
    likeness = relate(claim, known)
    said = moments(known, setting.heard)
    retold = attribute_named(claim.attribute).retold and said[-1] < setting.said_at
    other_words = retold and claim.text != known.text
    detail = likeness == "more" or (likeness == "same" and (other_words or more_said(claim.text, known.text)))
    known_before = claim.valid_from is not None and said[0] < claim.valid_from <= setting.said_at
    start = claim.valid_from if known.valid_from is None and not known_before else None
    stop = spot.stop if claim.valid_to and spot.stop != known.valid_to else None
    if detail:
        return Refines(claim, known.id, f"more about what was known: {known.text}", valid_from=start, valid_to=stop)
    if start or stop:
        return Refines(claim, known.id, "tells when", valid_from=start, valid_to=stop, reworded=False)
    return Same(claim, known.id, "said again" if likeness == "same" else f"the same in other words: {known.text}")


def _begins_earlier(claim: Claim, spot: Place, follower: Fact) -> list[Decision]:
    reason = f"was so already on {_day(spot.since)}"
    decisions: list[Decision] = []
    if spot.displaced:
        ids = tuple(fact.id for fact in spot.displaced)
        decisions.append(Ends(claim, ids, spot.since, f"{follower.text}: {reason}"))
    return [*decisions, Refines(claim, follower.id, reason, valid_from=spot.since, reworded=False)]


def _moved(claim: Claim, same: Sequence[Fact], setting: Setting) -> Refines | None:
    """A date in the future that is told anew is a change of plan, not a second plan."""
    if claim.valid_from is None or claim.valid_from <= setting.said_at:
        return None
    single = attribute_named(claim.attribute).single
    for fact in same:
        if fact.valid_from is None or not setting.said_at < fact.valid_from != claim.valid_from:
            continue
        fits = not single or fact.valid_from < claim.valid_from < finish(fact)
        if fits and moments(fact, setting.heard)[-1] <= setting.said_at:
            stop = None if single else claim.valid_to
            return Refines(claim, fact.id, f"moved from {_day(fact.valid_from)}", claim.valid_from, stop)
    return None


def _surer(claim: Claim, displaced: Sequence[Fact], setting: Setting) -> Fact | None:
    for fact in displaced:
        lately = moments(fact, setting.heard)[-1] >= setting.said_at
        if lately and fact.confidence - claim.confidence >= MARGIN:
            return fact
    return None


def _decide_correction(claim: Claim, setting: Setting) -> list[Decision]:
    """The right value takes the place of the wrong one, on the time line too."""
    same = same_facts(claim, setting)
    wrong = _mistaken(claim, setting)
    if wrong is None or any(holds_at(fact, setting.said_at) for fact in same):
        return _decide_holding(claim, setting)
    start, stop = wrong.valid_from, wrong.valid_to
    if claim.valid_from and begin(wrong) <= claim.valid_from < finish(wrong):
        start = claim.valid_from
    if claim.valid_to and (start or ALWAYS) < claim.valid_to <= finish(wrong):
        stop = claim.valid_to
    since, reason = start or setting.said_at, f"a correction: it was never so that {wrong.text}"
    right = Replaces(claim, (wrong.id,), since, reason, valid_to=stop, open_start=start is None, mistaken=True)
    rivals = rival_facts(claim, setting, same=same)
    against = tuple(fact.id for fact in rivals if fact.attribute != claim.attribute)
    return [right, Ends(claim, against, since, "said to be so after all")] if against else [right]


def _mistaken(claim: Claim, setting: Setting) -> Fact | None:
    """Return the fact that a correction means: the current one, or of many the one that was said last."""
    own = [fact for fact in own_facts(claim, setting.facts) if holds_at(fact, setting.said_at)]
    own = [fact for fact in own if moments(fact, setting.heard)[-1] <= setting.said_at]
    last = max((moments(fact, setting.heard)[-1] for fact in own), default=None)
    lately = [fact for fact in own if moments(fact, setting.heard)[-1] == last]
    return lately[0] if len(lately) == 1 else None


def _decide_end(claim: Claim, setting: Setting) -> list[Decision]:
    if not attribute_named(claim.attribute).lasting and claim.standing == "ended":
        return [Ignored(claim, "what has happened cannot end")]
    meant = facts_meant(claim, setting)
    off = [fact for fact in meant if _is_called_off(fact, setting)]
    if off:
        return [Ends(claim, tuple(fact.id for fact in off), setting.said_at, f"called off: {_listed(off)}")]
    denied = denials(claim, setting)
    over = claim.valid_to or (claim.valid_from if claim.standing == "denied" else None)
    told = Span(start=over and min(over, setting.said_at), stop=None)
    spot = place(told, said_at=setting.said_at, same=denied, rivals=meant, heard=setting.heard)
    if spot.overruled_by:
        return [Ignored(claim, f"what was said later covers that time: {spot.overruled_by.text}")]
    if spot.holder:
        return [_said_again(claim, spot.holder, spot, setting)]
    ended = [fact for fact in spot.displaced if moments(fact, setting.heard)[0] <= setting.said_at]
    if ended:
        return _ends(claim, ended, spot, setting)
    past = [fact for fact in meant if finish(fact) <= spot.since]
    if past:
        return [Same(claim, past[-1].id, f"known to have ended: {past[-1].text} until {_day(past[-1].valid_to)}")]
    return [_ends_nothing(claim, spot, setting)]


def _ends_nothing(claim: Claim, spot: Place, setting: Setting) -> Decision:
    if spot.displaced:
        return _replaces(claim, spot)
    if claim.confidence < UNSURE:
        return Ignored(claim, "nothing known that it could mean")
    if claim.standing == "denied" and _is_replaced(claim, setting):
        return Ignored(claim, "the value that the same message gives says as much")
    start = None if spot.open_start else spot.since
    return New(claim, "nothing known that it ends", valid_from=start, valid_to=spot.stop)


def _is_called_off(fact: Fact, setting: Setting) -> bool:
    """A plan that was told before and is for later. Of all else, an end that is told now is not about what comes."""
    return fact.attribute == "plans" and begin(fact) > setting.said_at >= moments(fact, setting.heard)[0]


def _is_replaced(claim: Claim, setting: Setting) -> bool:
    """ "Meta, not Google": of what there is one at a time, the new value denies every other."""
    return attribute_named(claim.attribute).single and (claim.subject, claim.attribute) in setting.renewed


def _ends(claim: Claim, ended: Sequence[Fact], spot: Place, setting: Setting) -> list[Decision]:
    ids = tuple(fact.id for fact in ended)
    reason = f"no longer so: {_listed(ended)} until {_day(spot.since)}"
    decisions: list[Decision] = [Ends(claim, ids, spot.since, reason, until=spot.stop)]
    gone = {fact.id for fact in ended}
    for attribute in {fact.attribute: None for fact in ended}:
        left = [fact for fact in setting.facts if is_pair(fact, claim, attribute) and fact.id not in gone]
        if (claim.subject, attribute) in setting.renewed or any(holds_after(fact, spot.since) for fact in left):
            continue
        bound = [fact for name in dependents(attribute) for fact in setting.facts if is_pair(fact, claim, name)]
        bound = [fact for fact in bound if holds_after(fact, spot.since) and begin(fact) < spot.since]
        if bound:
            reason = f"goes with {attribute}: {_listed(bound)} until {_day(spot.since)}"
            decisions.append(Ends(claim, tuple(fact.id for fact in bound), spot.since, reason, until=spot.stop))
    return decisions


def _why_new(same: Sequence[Fact], spot: Place) -> str:
    ended = [fact for fact in same if finish(fact) <= spot.since]
    if ended:
        return f"again: it had ended on {_day(ended[-1].valid_to)}"
    return f"was so until {_day(spot.stop)}" if spot.stop else "nothing known against it"


def _why_replaced(claim: Claim, spot: Place) -> str:
    if spot.open_start:
        return f"same attribute `{claim.attribute}`, value until {_day(spot.stop)}; then {_listed(spot.displaced)}"
    what = "new value" if spot.stop is None else f"value until {_day(spot.stop)}"
    return f"same attribute `{claim.attribute}`, {what}; {_listed(spot.displaced)} until {_day(spot.since)}"


def _listed(facts: Sequence[Fact]) -> str:
    return "; ".join(fact.text for fact in facts)


def _day(moment: datetime | None) -> str:
    return f"{moment.day} {moment:%B %Y}" if moment else "an unknown day"
