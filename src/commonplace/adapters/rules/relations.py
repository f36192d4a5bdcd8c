"""People and animals of the user: "my older sister Kate", "two cats, Miso and Tofu", "a dog named Rex"."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from commonplace.adapters.rules.lexicon import (
    NUMBERS,
    PLURAL_RELATIONS,
    RELATION_ADJECTIVES,
    RELATIONS,
    UNIQUE_RELATIONS,
)
from commonplace.adapters.rules.render import Who
from commonplace.adapters.rules.tokens import Token, surface

_NO_NAMES = frozenset({"after", "the", "a", "an", "something", "it", "that", "my", "to", "by", "in", "on"})
_NAMING = frozenset({"named", "called", "is"})
_DETERMINERS = frozenset({"a", "an", "my", "our", "the", "one"})
_FEW_WORDS = 5
_AGED = re.compile(r"(\d{1,2})[ -]years?[ -]old ")


@dataclass(frozen=True, slots=True)
class Relation:
    attribute: str
    noun: str
    """With its adjectives, in lower case: "older sister"."""
    names: tuple[str, ...]
    after: int
    """Where the words behind it begin."""
    bare: str = ""
    """The noun alone: "sister"."""
    age: str = ""

    @property
    def plural(self) -> bool:
        return self.bare in PLURAL_RELATIONS

    def who(self) -> Who:
        """The subject that facts about this one are kept under.

        A name tells two sisters apart; of wives there is one.
        """
        name = f" {self.names[0]}" if len(self.names) == 1 and self.bare not in UNIQUE_RELATIONS else ""
        return Who(f"user's {self.noun}{name}".lower(), f"User's {self.noun}{name}", plural=self.plural)


def relation(tokens: Sequence[Token], *, loose: bool = False) -> Relation | None:
    """Read a relation at the start of the tokens, after its article.

    `loose` takes any adjective: "a grumpy old cat".
    """
    begin = 1 if tokens and tokens[0].low in _DETERMINERS else 0
    at = begin
    while at < len(tokens) and at < begin + _FEW_WORDS and _adjective(tokens, at, loose=loose):
        at += 1
    if at >= len(tokens) or tokens[at].low not in RELATIONS:
        return None
    if tokens[at].low in {"guinea"} or (
        at + 1 < len(tokens)
        and tokens[at + 1].low in {"food", "house", "bed", "toys", "video", "videos", "people", "person"}
    ):
        return None
    bare = tokens[at].low
    noun = surface(tokens[begin : at + 1]).lower()
    aged = _AGED.match(noun)
    names, after = _names(tokens, at + 1)
    return Relation(
        RELATIONS[bare],
        noun[aged.end() :] if aged is not None else noun,
        names,
        after,
        bare,
        aged[1] if aged is not None else "",
    )


def _adjective(tokens: Sequence[Token], at: int, *, loose: bool) -> bool:
    low = tokens[at].low
    following = tokens[at + 1].low if at + 1 < len(tokens) else ""
    if low in RELATIONS:
        return following in RELATIONS
    if (
        low in RELATION_ADJECTIVES
        or low in NUMBERS
        or low[0].isdigit()
        or (low in {"year", "years"} and following == "old")
    ):
        return True
    return loose and low.isalpha() and low not in {"and", "or", "of", "with", "that", "to", "for", "in"}


def _names(tokens: Sequence[Token], at: int) -> tuple[tuple[str, ...], int]:
    """Read "Rex", ", Miso and Tofu", "named Rex", ": Nora, Emil and Liv"."""
    begin = at
    if at + 2 < len(tokens) and tokens[at].low == "now" and tokens[at + 1].low == "," and tokens[at + 2].named:
        at += 1
    if at < len(tokens) and tokens[at].low in {"named", "called", ",", ":", "is"}:
        at += 1
        if at < len(tokens) and tokens[at].low in _NAMING | {"now"}:
            at += 1
    loose = at > begin and tokens[at - 1].low in {"named", "called"}
    names: list[str] = []
    while (end := name_end(tokens, at, loose=loose)) > at:
        names.append(surface(tokens[at:end]))
        at, step, loose = end, end, False
        while step < len(tokens) and tokens[step].low in {",", "and", "&"}:
            step += 1
        if step == at or name_end(tokens, step) == step:
            break
        at = step
    return (tuple(names), at) if names else ((), begin)


def name_end(tokens: Sequence[Token], at: int, *, loose: bool = False) -> int:
    """Return where a run of capitalised words ends: at most three, none of them "I".

    `loose` takes one word in lower case as well: behind "called", in messages of people who never shift.
    """
    end = at
    if (
        loose
        and at < len(tokens)
        and tokens[at].text.islower()
        and tokens[at].low.isalpha()
        and tokens[at].low not in _NO_NAMES
    ):
        return at + 1
    while end < len(tokens) and end - at < 3 and tokens[end].named and tokens[end].low not in {"i", "we", "my"}:
        end += 1
    return end


def called(tokens: Sequence[Token]) -> str:
    """Return the name in "a Swede called Lars" or "Pedro"; empty when there is none."""
    for at, token in enumerate(tokens):
        if token.low in {"named", "called"}:
            return surface(tokens[at + 1 : name_end(tokens, at + 1, loose=True)])
    return surface(tokens[: name_end(tokens, 0)])


def introduced(noun: str, name: str, *, bare: str) -> str:
    """ "has a dog named Rex" for what one can have several of, in words."""
    singular = {"kids": "child", "children": "child", "twins": "twin", "mice": "mouse", "puppies": "puppy"}.get(bare)
    if singular is None:
        singular = noun[:-1] if bare in PLURAL_RELATIONS else noun
    words = [
        word
        for word in singular.split()
        if word not in NUMBERS and not word.isdecimal() and word not in {"another", "this"}
    ]
    return f"{' '.join(words)} named {name}"
