"""The attribute table: what a fact can be about, as data, so that deciding about a claim needs no list in code.

Two families are open, with one row each: "favourite colour", "favourite band" …, and "detail gate code",
"detail budget" ….
"""

from dataclasses import dataclass, replace
from types import MappingProxyType

from commonplace.domain.values import FactKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Attribute:
    """How the facts under one name behave."""

    name: str
    single: bool = False
    """Only one value at a time: a new one replaces the old one."""
    kind: FactKind = "fact"
    importance: float = 0.5
    lasting: bool = True
    """Can hold for a while and then end. False for what has happened: it cannot stop having happened."""
    opposite: str | None = None
    """The same value under this name contradicts this one: likes and dislikes."""
    kin: frozenset[str] = frozenset()
    """Where else an ending may mean: "I gave up the piano" ends a hobby, a use or a thing one owns."""
    ends_with: str | None = None
    """Ends when that attribute ends without a successor: the job title with the employer."""
    retold: bool = False
    """The words around the value can change while it stays, and the last ones count: a girlfriend becomes a wife."""
    exclusive: frozenset[str] = frozenset()
    """Values of a many-valued attribute of which only one can hold: vegan, vegetarian."""


_THINGS = frozenset(
    {"uses", "owns", "takes", "consumes", "hobby", "habit", "member_of", "learns", "reads", "watches", "likes"}
)
_WORK = frozenset({"employer", "job", "school", "studies", "member_of"})
_CLOSE = frozenset({"partner", "marital_status"})
_DIETS = frozenset({"vegan", "vegetarian", "pescatarian", "omnivore", "carnivore", "flexitarian"})
_MARITAL = "marital_status"


def _one(
    name: str, importance: float = 0.5, *, kind: FactKind = "fact", kin: frozenset[str] = frozenset()
) -> Attribute:
    return Attribute(name=name, single=True, importance=importance, kind=kind, kin=kin - {name})


def _many(
    name: str, importance: float = 0.5, *, kind: FactKind = "fact", kin: frozenset[str] = frozenset()
) -> Attribute:
    return Attribute(name=name, importance=importance, kind=kind, kin=kin - {name})


_ROWS = (
    # who someone is
    _one("name", 0.9),
    _one("nickname", 0.85),
    _one("pronouns", 0.85),
    _one("age", 0.7),
    _one("birthday", 0.75),
    _one("birth_year", 0.7),
    _one("birthplace", 0.6),
    _one("hometown", 0.6),
    _many("nationality", 0.7),
    _one("height", 0.5),
    _one("weight", 0.5),
    _one("religion", 0.65),
    # where and how to reach someone
    _one("home", 0.8),
    _one("address", 0.8),
    _one("email", 0.7),
    _one("phone", 0.7),
    _one("timezone", 0.7),
    # work and study
    _one("employer", 0.75, kin=_WORK | {"home", "uses"}),  # "I left Toronto", "I left Spotify" may be about either
    replace(_one("job", 0.75, kin=_WORK), ends_with="employer"),
    _one("field", 0.6),
    _one("workplace", 0.6),
    _one("school", 0.65, kin=_WORK),
    replace(_many("studies", 0.65, kin=_WORK), ends_with="school"),
    replace(_many("education", 0.6), lasting=False),
    # people and animals
    replace(_one("partner", 0.8, kin=_CLOSE), retold=True),
    replace(_one(_MARITAL, 0.75, kin=_CLOSE), ends_with="partner"),
    _many("child", 0.8),
    _many("sibling", 0.7),
    _many("parent", 0.7),
    _many("relative", 0.6),
    _many("friend", 0.6),
    _many("colleague", 0.55),
    _many("pet", 0.7, kin=frozenset({"owns"})),
    # things and tools
    _many("owns", 0.5, kin=_THINGS | {"pet"}),
    _many("uses", 0.55, kin=_THINGS | {"employer", "studies", "field"}),
    # taste
    replace(_many("likes", 0.5, kind="preference", kin=frozenset({"prefers", "hobby"})), opposite="dislikes"),
    replace(_many("dislikes", 0.5, kind="preference"), opposite="likes"),
    _many("prefers", 0.55, kind="preference", kin=frozenset({"likes"})),
    _many("supports", 0.5, kind="preference", kin=frozenset({"likes"})),
    # body
    replace(_many("diet", 0.8), exclusive=_DIETS),
    replace(_many("avoids", 0.75, kind="preference"), opposite="consumes"),
    replace(_many("consumes", 0.45, kind="preference", kin=_THINGS), opposite="avoids"),
    _many("allergic_to", 0.95),
    _many("condition", 0.9),
    _many("takes", 0.85, kin=_THINGS),
    _one("blood_type", 0.8),
    # what someone does, can and is like
    _many("hobby", 0.55, kin=_THINGS | {"trait"}),
    _many("habit", 0.5, kin=_THINGS | {"trait"}),  # who quits smoking is no smoker
    _many("member_of", 0.55, kin=_THINGS | _WORK),
    _many("speaks", 0.7),
    _many("learns", 0.55, kin=frozenset({"hobby", "studies", "speaks"})),
    _many("skill", 0.55, kind="semantic"),
    _many("trait", 0.5, kind="semantic"),
    _many("fears", 0.6, kind="semantic"),
    _many("believes", 0.5, kind="semantic"),
    # what goes on
    _many("works_on", 0.5, kind="context", kin=frozenset({"learns", "hobby"})),
    _many("reads", 0.35, kind="context", kin=frozenset({"watches"})),
    _many("watches", 0.35, kind="context", kin=frozenset({"reads"})),
    _many("plans", 0.55, kind="context"),
    _many("wants", 0.4, kind="context", kin=frozenset({"goal", "plans"})),
    _many("goal", 0.55, kind="context", kin=frozenset({"wants", "plans"})),
    replace(_many("visited", 0.4), lasting=False),
    replace(_many("event", 0.45, kind="context"), lasting=False),
)

ATTRIBUTES = MappingProxyType({row.name: row for row in _ROWS})
FAVOURITE = _one("favourite", 0.6, kind="preference")
DETAIL = _one("detail", 0.55)
_FAMILIES = (FAVOURITE, DETAIL)


def attribute_named(name: str) -> Attribute:
    """Return the row for a name. One that no row knows is many-valued: nothing is replaced by mistake."""
    known = ATTRIBUTES.get(name)
    if known is not None:
        return known
    for family in _FAMILIES:
        if name.startswith(f"{family.name} "):
            return replace(family, name=name)
    return Attribute(name=name)
