"""Which of the known facts a claim has to do with: those that say the same, those that exclude it, those it ends."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import NamedTuple

from commonplace.domain.attributes import ATTRIBUTES, attribute_named
from commonplace.domain.claims import Claim
from commonplace.domain.values import Fact
from commonplace.learning.effects import NEGATION
from commonplace.learning.likeness import ALIKE, Likeness, compare, names_agree
from commonplace.learning.timeline import Hearings, begin, finish

Alike = Callable[[Claim, Fact], float]
"""How close two statements are, 0..1, by their embeddings."""


class Setting(NamedTuple):
    """What a claim is compared with."""

    facts: Sequence[Fact]
    said_at: datetime
    heard: Hearings
    alike: Alike | None
    renewed: frozenset[tuple[str, str]]
    """The (subject, attribute) pairs that this message gives a value: they have a successor."""


def is_negative(claim: Claim) -> bool:
    return claim.standing in ("ended", "denied")


def dependents(attribute: str) -> list[str]:
    return [row.name for row in ATTRIBUTES.values() if row.ends_with == attribute]


def is_pair(fact: Fact, claim: Claim, attribute: str) -> bool:
    return fact.subject == claim.subject and fact.attribute == attribute


def own_facts(claim: Claim, facts: Sequence[Fact]) -> list[Fact]:
    return [fact for fact in facts if is_pair(fact, claim, claim.attribute)]


def same_facts(claim: Claim, setting: Setting) -> list[Fact]:
    """Return the facts that say what the claim says, the most alike first."""
    own = own_facts(claim, setting.facts)
    alike = [fact for fact in own if _says_the_same(claim, fact, setting)]
    return sorted(alike, key=lambda fact: compare(claim.value, fact.value) != "same")


def _says_the_same(claim: Claim, fact: Fact, setting: Setting) -> bool:
    likeness = compare(claim.value, fact.value)
    if likeness == "part" and attribute_named(claim.attribute).single:
        return _is_longer_name(claim.value, fact.value) or _is_longer_name(fact.value, claim.value)
    return likeness in ("same", "more", "less") or _alike(claim, fact, setting)


def _is_longer_name(long: str, short: str) -> bool:
    return short[:1].isupper() and long.casefold().startswith(short.casefold() + " ")


def _alike(claim: Claim, fact: Fact, setting: Setting) -> bool:
    alike = setting.alike
    return alike is not None and names_agree(claim.value, fact.value) and alike(claim, fact) >= ALIKE


def rival_facts(claim: Claim, setting: Setting) -> list[Fact]:
    """Return the facts that cannot hold while the claim does."""
    row = attribute_named(claim.attribute)
    own = [fact for fact in own_facts(claim, setting.facts) if not _says_the_same(claim, fact, setting)]
    rivals = own if row.single else [f for f in own if claim.value in row.exclusive and f.value in row.exclusive]
    opposites = {NEGATION + claim.attribute, row.opposite}
    against = [fact for fact in setting.facts if fact.subject == claim.subject and fact.attribute in opposites]
    return rivals + [fact for fact in against if compare(claim.value, fact.value) in ("same", "more", "less")]


def holds_after(fact: Fact, at: datetime) -> bool:
    return finish(fact) > at


def holds_at(fact: Fact, at: datetime) -> bool:
    return begin(fact) <= at < finish(fact)


def facts_meant(claim: Claim, setting: Setting) -> list[Fact]:
    """Return the facts that an ending speaks of: under its own attribute, or else under a related one."""
    row = attribute_named(claim.attribute)
    own = own_facts(claim, setting.facts)
    if not claim.value:
        open_now = [fact for fact in own if holds_after(fact, setting.said_at)]
        return own if row.single or len(open_now) <= 1 else []
    found = _about(claim, own, setting)
    if found:
        return found
    kin = [fact for fact in setting.facts if fact.subject == claim.subject and fact.attribute in row.kin]
    return _about(claim, kin, setting)


def _about(claim: Claim, facts: Sequence[Fact], setting: Setting) -> list[Fact]:
    """Return the facts of the claim's value, from the closest likeness that any of them has."""
    degrees: list[tuple[Likeness, ...]] = [("same",), ("more", "less")]
    for degree in degrees:
        found = [fact for fact in facts if compare(claim.value, fact.value) in degree]
        if found:
            return found
    parts = [fact for fact in facts if compare(claim.value, fact.value) == "part"]
    if len({fact.value.casefold() for fact in parts if holds_after(fact, setting.said_at)}) == 1:
        return parts
    return [fact for fact in facts if _alike(claim, fact, setting)]
