"""Two people: "Theo and I got married", "my husband and I separated", "Tomasz and I aren't friends anymore".

Who it is may stand beside "I", behind the verb, or nowhere: then it is whoever holds.
"""

from collections.abc import Callable, Sequence
from types import MappingProxyType

from commonplace.adapters.rules.clause import Clause, Finding, found, told
from commonplace.adapters.rules.relations import called, relation
from commonplace.adapters.rules.render import predicate, sentence
from commonplace.adapters.rules.tokens import Token
from commonplace.adapters.rules.wordsets import word_set

_PAIRS = MappingProxyType(
    {
        "friends": "friend",
        "buddies": "friend",
        "roommates": "friend",
        "flatmates": "friend",
        "housemates": "friend",
        "neighbours": "friend",
        "neighbors": "friend",
        "colleagues": "colleague",
        "coworkers": "colleague",
        "together": "partner",
        "partners": "partner",
    }
)
_HOW = word_set("best good close old great just only still both really very longer")
_WED = frozenset({"married", "engaged"})
_AFTER_PARTING = frozenset({",", "and", "because", "amicably", "but", "after"})


def _settled(clause: Clause) -> bool:
    group = clause.group
    return not group.negated and group.factual and not group.progressive and group.tense != "present"


def _named(tokens: Sequence[Token]) -> tuple[str, bool]:
    """Return the name in "Ana" or "my girlfriend Ana", and whether it may be a partner at all: "my band" is none."""
    if tokens and tokens[0].low in {"my", "our"}:
        kin = relation(tokens[1:])
        return (kin.names[0] if kin is not None and kin.names else "", kin is not None and kin.attribute == "partner")
    return called(tokens), True


def parted(clause: Clause, tokens: Sequence[Token] = ()) -> Finding:
    name = clause.beside.name or _named(tokens)[0]
    return told(
        clause, "partner", name, sentence(clause.who, "broke up with", name or "their partner"), standing="ended"
    )


def splitting(clause: Clause) -> list[Finding]:
    """ "we broke up", "my boyfriend and I split up", "broke up with Ana" """
    if clause.group.negated or clause.group.modal or clause.low[:1] not in {("up",), ("apart",)}:
        return []
    after = clause.rest[1:]
    if clause.beside.bond not in {"", "partner"} or clause.who.plural:
        return []
    if after and after[0].low == "with":
        return [parted(clause, after[1:])] if _named(after[1:])[1] else []
    return [parted(clause)] if not after or after[0].low in _AFTER_PARTING else []


def separating(clause: Clause) -> list[Finding]:
    """ "my husband and I separated", "I separated from my wife" """
    if not _settled(clause) or clause.beside.bond not in {"", "partner"}:
        return []
    low = clause.low
    apart = low[:1] == ("from",) and low[1:2] == ("my",) and _named(clause.rest[1:])[1]
    alone = not low or low[0] in _AFTER_PARTING
    return [found(clause, "marital_status", "separated", "be")] if apart or alone else []


def wed(status: str) -> Callable[[Clause], list[Finding]]:
    """ "got married to Tom", "Tom and I got engaged" """

    def read(clause: Clause) -> list[Finding]:
        findings = [found(clause, "marital_status", status, "be")]
        name = clause.beside.name or (called(clause.rest[1:]) if clause.low[:1] == ("to",) else "")
        return findings + ([_bound_to(clause, status, name)] if name and status != "divorced" else [])

    return read


def _bound_to(clause: Clause, status: str, name: str) -> Finding:
    return told(
        clause,
        "partner",
        name,
        sentence(clause.who, predicate(clause.who, f"be {status} to", standing=clause.standing), name),
    )


def marrying(clause: Clause) -> list[Finding]:
    """ "I married Tom in 2012" """
    name = called(clause.rest)
    if not _settled(clause) or not name:
        return []
    return [found(clause, "marital_status", "married", "be"), _bound_to(clause, "married", name)]


def divorcing(clause: Clause) -> list[Finding]:
    """ "I divorced my husband in 2019", "Tom and I divorced" """
    return [found(clause, "marital_status", "divorced", "be")] if _settled(clause) else []


def dating(clause: Clause) -> list[Finding]:
    name = called(clause.rest) or clause.beside.name
    if not name or (clause.group.negated and not clause.ended) or not (clause.group.progressive or clause.ended):
        return []
    shown = "is dating" if not clause.ended else "is no longer dating"
    return [told(clause, "partner", name, sentence(clause.who, shown, name))]


def back_together(clause: Clause) -> list[Finding]:
    kin = relation(clause.rest[1:]) if clause.low[:1] == ("my",) else None
    return [found(clause, "partner", kin.names[0], "be together with")] if kin is not None and kin.names else []


def bound(clause: Clause) -> list[Finding]:
    """ "Tomasz and I are friends", "Theo and I are married": what two named people are to each other."""
    name, bond = clause.beside
    low = [word for word in clause.low if word not in _HOW]
    if not name or bond not in {"", "partner"} or len(low) != 1 or (clause.group.tense == "past" and not clause.ended):
        return []
    if low[0] in _WED:
        return [found(clause, "marital_status", low[0], "be"), _bound_to(clause, low[0], name)]
    attribute = _PAIRS.get(low[0])
    if attribute is None or clause.group.tense == "perfect" and not clause.lasting and not clause.ended:
        return []
    are = {"ended": "are no longer", "denied": "are not"}.get(clause.standing, "are")
    return [told(clause, attribute, name, f"User and {name} {are} {low[0]}")]
