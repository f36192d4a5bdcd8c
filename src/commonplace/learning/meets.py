"""Which of the known facts a claim has to do with: those that say the same, those that exclude it, those it ends."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from types import MappingProxyType
from typing import NamedTuple

from commonplace.domain.attributes import ATTRIBUTES, attribute_named
from commonplace.domain.claims import Claim
from commonplace.domain.diets import FORBIDDEN_BY
from commonplace.domain.values import Fact
from commonplace.learning.effects import NEGATION, recorded_attribute
from commonplace.learning.likeness import ALIKE, Likeness, compare, is_a_named, may_be_alike, recounts, share_a_word
from commonplace.learning.timeline import Hearings, begin, finish, moments

Alike = Callable[[Claim, Fact], float]
"""How close two statements are, 0..1, by their embeddings."""

ANY: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "child": frozenset({"kid", "kids", "child", "children"}),
        "employer": frozenset({"job", "work"}),
        "job": frozenset({"job"}),
        "partner": frozenset({"partner", "girlfriend", "boyfriend", "wife", "husband", "spouse"}),
        "pet": frozenset({"pet", "pets", "animals"}),
        "school": frozenset({"school", "college", "university", "uni"}),
        "sibling": frozenset({"siblings", "brothers or sisters"}),
    }
)
"""Values that stand for any value of an attribute when it is denied: "I don't have kids", "I quit my job"."""

UNDOES: Mapping[tuple[str, str], str] = MappingProxyType(
    {
        ("marital_status", "divorced"): "partner",
        ("marital_status", "separated"): "partner",
        ("marital_status", "widowed"): "partner",
        ("marital_status", "single"): "partner",
        ("job", "retired"): "employer",
        ("job", "unemployed"): "employer",
        ("job", "self-employed"): "employer",
    }
)
"""What is over when this begins to be so."""

EXCLUDES: Mapping[tuple[str, str], str] = MappingProxyType(
    {
        ("marital_status", "single"): "partner",
        ("job", "retired"): "employer",
        ("job", "unemployed"): "employer",
        ("job", "self-employed"): "employer",
    }
)
"""What is over when something of this attribute begins: somebody with a partner is no longer single."""


COUNTED = frozenset({"child", "sibling", "pet", "owns"})
"""Of what a number of is one value at a time, though there may be many others beside it: "two cats", "Rex"."""


class Setting(NamedTuple):
    """What a claim is compared with."""

    facts: Sequence[Fact]
    said_at: datetime
    heard: Hearings
    alike: Alike | None
    renewed: frozenset[tuple[str, str]]
    """The (subject, attribute) pairs that this message gives a value: they have a successor."""
    ended: Mapping[tuple[str, str], datetime]
    """The pairs of which this message has ended a value, and when: what it says next of them began then."""


def is_negative(claim: Claim) -> bool:
    return claim.standing in ("ended", "denied")


def dependents(attribute: str) -> list[str]:
    return [row.name for row in ATTRIBUTES.values() if row.ends_with == attribute]


def is_pair(fact: Fact, claim: Claim, attribute: str) -> bool:
    return fact.subject == claim.subject and fact.attribute == attribute


def own_facts(claim: Claim, facts: Sequence[Fact]) -> list[Fact]:
    return [fact for fact in facts if is_pair(fact, claim, claim.attribute)]


def needed_attributes(claim: Claim) -> list[str]:
    """Return the attributes of the claim's subject under which there may be facts that it meets."""
    row = attribute_named(claim.attribute)
    names = {claim.attribute, NEGATION + claim.attribute, row.opposite}
    if claim.attribute in {"diet", "consumes"}:
        names |= {"diet", "consumes"}
    if claim.follows:
        names |= row.kin | {NEGATION + name for name in row.kin} | {attribute_named(name).opposite for name in row.kin}
    if is_negative(claim):
        names |= row.kin | {*dependents(claim.attribute)}
    names |= {other for (attribute, _), other in UNDOES.items() if attribute == claim.attribute}
    names |= {attribute for (attribute, _), other in UNDOES.items() if other == claim.attribute}
    return sorted(name for name in names if name)


def relate(claim: Claim, fact: Fact) -> Likeness:
    """Return how the claim's value relates to that of a fact, in the light of what both sentences say."""
    likeness = compare(claim.value, fact.value)
    if likeness in ("part", "other"):
        if is_a_named(claim.value, fact.value, claim.text):
            return "more"
        if is_a_named(fact.value, claim.value, fact.text):
            return "less"
    return likeness


def same_facts(claim: Claim, setting: Setting) -> list[Fact]:
    """Return the facts that say what the claim says, the most alike first."""
    own = own_facts(claim, setting.facts)
    alike = [fact for fact in own if _says_the_same(claim, fact, setting)]
    return sorted(alike, key=lambda fact: relate(claim, fact) != "same")


def undecided(claims: Sequence[Claim], facts: Sequence[Fact]) -> list[tuple[Claim, Fact]]:
    """Return the pairs of which only their embeddings can tell whether they say the same.

    Values of a many-valued attribute that have no word in common hardly ever do, and asking costs as much as the
    message itself: they are left apart.
    """
    return [
        (claim, fact)
        for claim in claims
        for fact in facts
        if fact.subject == claim.subject
        and claim.value
        and fact.attribute in _kindred(claim)
        and relate(claim, fact) in ("part", "other")
        and (attribute_named(fact.attribute).single or share_a_word(claim.value, fact.value))
        and may_be_alike(claim.value, fact.value)
    ]


def _kindred(claim: Claim) -> frozenset[str]:
    return (attribute_named(claim.attribute).kin if is_negative(claim) else frozenset()) | {claim.attribute}


def rival_facts(claim: Claim, setting: Setting, *, same: Sequence[Fact]) -> list[Fact]:
    """Return the facts that cannot hold while the claim does; `same` are those that say what it says."""
    row = attribute_named(claim.attribute)
    rivals: list[Fact] = []
    if row.single or claim.value in row.exclusive:
        agreeing = {fact.id for fact in same}
        own = [fact for fact in own_facts(claim, setting.facts) if fact.id not in agreeing]
        rivals = own if row.single else [fact for fact in own if fact.value in row.exclusive]
    elif claim.attribute in COUNTED:
        rivals = [fact for fact in own_facts(claim, setting.facts) if recounts(claim.value, fact.value)]
    others = [f for f in setting.facts if f.subject == claim.subject and f.attribute != claim.attribute]
    return rivals + [fact for fact in others if _contradicts(fact, claim, setting)]


def denials(claim: Claim, setting: Setting) -> list[Fact]:
    """Return the facts that deny what the claim denies."""
    negative = [fact for fact in setting.facts if is_pair(fact, claim, recorded_attribute(claim))]
    return [fact for fact in negative if relate(claim, fact) in ("same", "more", "less")]


def only_denies(claim: Claim, fact: Fact) -> bool:
    """Tell whether all that a fact says is that what is claimed is not so."""
    if not is_pair(fact, claim, NEGATION + claim.attribute):
        return False
    return not fact.value or relate(claim, fact) in ("same", "more", "less")


def facts_meant(claim: Claim, setting: Setting) -> list[Fact]:
    """Return the facts that an ending speaks of: under its own attribute, or else under a related one."""
    row = attribute_named(claim.attribute)
    own = own_facts(claim, setting.facts)
    found = _about(claim, own, setting) if claim.value else []
    if found:
        return found
    if stands_for_any(claim.attribute, claim.value):
        own = own or [
            fact for name in dependents(claim.attribute) for fact in setting.facts if is_pair(fact, claim, name)
        ]
        return own if row.single or len([fact for fact in own if holds_after(fact, setting.said_at)]) <= 1 else []
    way = _leads_to(claim.value) if claim.attribute == "plans" else ""
    same_way = [fact for fact in own if way and _leads_to(fact.value) == way]
    if len(same_way) == 1:
        return same_way  # "my trip to Oslo is off", and what was known is a flight there
    nameless = [fact for fact in own if row.single and stands_for_any(claim.attribute, fact.value)]
    if nameless:
        return nameless  # "I broke up with Ana", and all that was known is a girlfriend
    kin = [fact for fact in setting.facts if fact.subject == claim.subject and fact.attribute in row.kin]
    return _about(claim, kin, setting)


SUCCEEDED = frozenset(
    {"uses", "owns", "takes", "consumes", "hobby", "learns", "studies", "field", "member_of", "employer", "home"}
)
"""Under what a thing takes the place of another: "from law to medicine" may be about any of them."""


def succeeding(claim: Claim, left: Fact | None) -> Claim | None:
    """Return a claim that takes the place of a fact that has just ended, as one about the same; None if it does not.

    Who takes lisinopril and switches from it to losartan takes that.
    """
    if not claim.follows or left is None or left.attribute not in SUCCEEDED or left.value not in left.text:
        return None
    row = attribute_named(left.attribute)
    lead = left.text[: left.text.index(left.value)]
    return replace(
        claim,
        attribute=left.attribute,
        text=lead + claim.value if left.attribute != claim.attribute else claim.text,
        kind=row.kind,
        confidence=max(claim.confidence, left.confidence),
        importance=row.importance,
        follows=False,
    )


def stands_for_any(attribute: str, value: str) -> bool:
    return not value or value.casefold() in ANY.get(attribute, ())


def _leads_to(plan: str) -> str:
    """Return where a plan leads: "Oslo" of "fly to Oslo"."""
    _, to, place = plan.rpartition(" to ")
    return place if to and place[:1].isupper() and " and " not in plan else ""


def holds_after(fact: Fact, at: datetime) -> bool:
    return finish(fact) > at


def holds_at(fact: Fact, at: datetime) -> bool:
    return begin(fact) <= at < finish(fact)


def _about(claim: Claim, facts: Sequence[Fact], setting: Setting) -> list[Fact]:
    """Return the facts of the claim's value, from the closest likeness that any of them has."""
    same = [fact for fact in facts if relate(claim, fact) == "same"]
    if same:
        return same
    for degree in ("more", "less"), ("part",):
        found = [fact for fact in facts if relate(claim, fact) in degree]
        if len({fact.value.casefold() for fact in found if holds_after(fact, setting.said_at)}) == 1:
            return found
    return [fact for fact in facts if _alike(claim, fact, setting)]


def _says_the_same(claim: Claim, fact: Fact, setting: Setting) -> bool:
    likeness = relate(claim, fact)
    if likeness == "part" and attribute_named(claim.attribute).single:
        return _is_longer_name(claim.value, fact.value) or _is_longer_name(fact.value, claim.value)
    return likeness in ("same", "more", "less") or _alike(claim, fact, setting)


def _is_longer_name(long: str, short: str) -> bool:
    return short[:1].isupper() and long.casefold().startswith(short.casefold() + " ")


def _alike(claim: Claim, fact: Fact, setting: Setting) -> bool:
    alike = setting.alike
    return alike is not None and may_be_alike(claim.value, fact.value) and alike(claim, fact) >= ALIKE


def _contradicts(fact: Fact, claim: Claim, setting: Setting) -> bool:
    """Tell whether a fact under another attribute cannot hold while the claim does."""
    if fact.attribute in (NEGATION + claim.attribute, attribute_named(claim.attribute).opposite):
        any_value = fact.attribute.startswith(NEGATION) and stands_for_any(claim.attribute, fact.value)
        return any_value or relate(claim, fact) in ("same", "more", "less")
    if (claim.attribute, fact.attribute) == ("diet", "consumes"):
        forbidden = claim.value.casefold() in FORBIDDEN_BY.get(fact.value.casefold(), ())
        return forbidden and (fact.valid_from is not None or moments(fact, setting.heard)[-1] < setting.said_at)
    if (claim.attribute, fact.attribute) == ("consumes", "diet"):
        return claim.valid_from is not None and fact.value.casefold() in FORBIDDEN_BY.get(claim.value.casefold(), ())
    if UNDOES.get((claim.attribute, claim.value.casefold())) == fact.attribute:
        return True
    key = (fact.attribute, fact.value.casefold())
    if EXCLUDES.get(key) == claim.attribute:
        return True
    said_later = moments(fact, setting.heard)[0] > setting.said_at
    return UNDOES.get(key) == claim.attribute and said_later
