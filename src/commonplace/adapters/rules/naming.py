"""The name that comes after: "We adopted a cat. Her name is Pixel." is a cat named Pixel."""

from collections.abc import Sequence
from dataclasses import replace

from commonplace.adapters.rules.language import Statement
from commonplace.adapters.rules.lexicon import PLURAL_RELATIONS, RELATIONS
from commonplace.adapters.rules.patterns import Pattern

_KEPT = frozenset({"pet", "child", "partner"})
_FAR = 60
_NAME = r"(?P<name>[A-Z][\w'-]+(?: [A-Z][\w'-]+)?|[a-z]{3,12}(?=\s*(?:[.,!]|$)))"
_GIVEN = Pattern(
    r"\b(?:(?:[Hh]er|[Hh]is|[Ii]ts|[Tt]heir) name(?:'s| is| will be)|(?:[Ss]he|[Hh]e|[Ii]t)(?:'?s| is) (?:called|named)"
    rf"|(?:[Ww]e|[Ii]) (?:named|call|called|are calling|'re calling) (?:her|him|it)) {_NAME}"
)
_OTHERS = Pattern(r"\b(?:my|our) (\w+)")


def named_later(statements: Sequence[Statement], text: str) -> list[Statement]:
    """Return the statements, those of a person or an animal without a name with the one that the text gives them."""
    open_ = [one for one in statements if _is_nameless(one)]
    if len(open_) != 1:
        return list(statements)
    (nameless,) = open_
    finding = nameless.finding
    begin = max(finding.start, text.lower().find(finding.value, finding.start))
    given = _GIVEN.search(text, begin, min(len(text), finding.stop + _FAR))
    if given is None:
        return list(statements)
    between = text[begin : given.start()].lower()
    if any(match[1] in RELATIONS for match in _OTHERS.finditer(between)):
        return list(statements)
    name = given["name"]
    told = replace(finding, value=name, text=f"{finding.text} named {name}", stop=max(finding.stop, given.end()))
    named = replace(nameless, finding=told)
    return [named if one is nameless else one for one in statements]


def _is_nameless(statement: Statement) -> bool:
    finding = statement.finding
    noun = finding.value.split(" ")[-1]
    return (
        finding.attribute in _KEPT
        and finding.who.is_user
        and finding.standing == "holds"
        and finding.value.islower()
        and noun in RELATIONS
        and noun not in PLURAL_RELATIONS
    )
