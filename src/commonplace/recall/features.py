"""What ranking wants to know of a text beyond its terms, read when it is written: no text is needed later."""

import re
from enum import IntFlag
from typing import NamedTuple


class Has(IntFlag):
    """What there is in a text."""

    NOTHING = 0
    ASKS = 1
    """A question mark somewhere."""
    ENDS_ASKING = 2
    """It ends with a question mark."""
    TIME = 4
    """A word that says when: yesterday, last week, in May, 2023."""
    PLACE = 8
    """In, at or to something with a capital."""
    NUMBER = 16
    NAME = 32
    """A capital in the middle of a sentence, or quotes."""
    REASON = 64
    """A word that says why: because, inspired, to help."""
    STANDING = 128
    """How somebody wants to be answered, now and later: always, never, I prefer, from now on."""


class Features(NamedTuple):
    words: int
    flags: int
    """What there is in it, as the number that is kept: to name it takes as long as to find it."""
    first_person: float
    """Share of I, my, we … among the words."""
    second_person: float

    @property
    def has(self) -> Has:
        return Has(self.flags)


_WORD = re.compile(r"[^\W_]+")
_FIRST = frozenset(["i", "me", "my", "mine", "myself", "we", "us", "our", "ours", "im", "ive"])
_SECOND = frozenset(["you", "your", "yours", "yourself", "yourselves"])
_MONTH = (
    r"jan(?:uary)?|feb(?:ruary)?|march|april|june|july|aug(?:ust)?"
    r"|sept(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?"
)
_TIME = re.compile(
    r"\b(?:yesterday|today|tonight|tomorrow|ago|recently|lately|weekend|(?:mon|tues|wednes|thurs|fri|satur|sun)days?"
    r"|(?:last|next|this|past|coming|previous|few|couple of) (?:\w+ )?"
    r"(?:night|morning|day|week|month|year|spring|summer|fall|autumn|winter)s?"
    r"|in \d+ (?:day|week|month|year)s?|since \d{4}|(?:19|20)\d\d|\d{1,2}(?:st|nd|rd|th)|" + _MONTH + r")\b",
    re.IGNORECASE,
)
_MAY = re.compile(r"\b(?:in|last|next|of|since|until|early|late|mid) May\b|\bMay \d|\d May\b")
_PLACE = re.compile(r"\b(?:in|at|to|from|near|around|visit\w*|called) (?:the |a |an |my )?[A-Z][a-z]")
_DIGIT = re.compile(r"\d")
_NUMBER = re.compile(
    r"\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|hundred|thousand|twice|couple|once|several)\b",
    re.IGNORECASE,
)
_NAME = re.compile(
    r"[A-Z](?<=[a-z,] [A-Z])\w"
)  # the capital first: the engine looks for nothing else until it sees one
_QUOTED = re.compile(r"\"[^\"]+\"|“[^”]+”")

_REASON = re.compile(
    r"\b(?:because|since|so that|reasons?|inspir\w+|motivat\w+|wanted to"
    r"|helps?|helped|reminds?|reminded|thanks to|due to)\b",
    re.IGNORECASE,
)

_STANDING = re.compile(
    r"(?:^|[.!?\n]\s*)(?:please,? )?(?:always|never)\b|\b(?:when|whenever|if|every time) i ask\b|\bfrom now on\b"
    r"|\bi(?:'d| would)?(?: always| really| generally| usually)? prefer\b"
    r"|\b(?:answer|talk to|write to|call|address) me\b"
    r"|\bin (?:all )?(?:your|future) (?:answers|replies|responses)\b",
    re.IGNORECASE,
)


class _Sign(NamedTuple):
    """A pattern, tried only on a text with a word or a digit without which it cannot match.

    Few texts have one, and looking words up in a set takes a tenth of the time.
    """

    flag: int
    pattern: re.Pattern[str]
    words: frozenset[str]
    stems: tuple[str, ...]
    digits: bool


def _sign(flag: Has, pattern: re.Pattern[str], words: str, *, stems: str = "", digits: bool = False) -> _Sign:
    return _Sign(int(flag), pattern, frozenset(words.split()), tuple(stems.split()), digits)


SIGNS = (
    _sign(
        Has.TIME,
        _TIME,
        "yesterday today tonight tomorrow ago recently lately weekend last next this past coming previous few couple"
        " monday tuesday wednesday thursday friday saturday sunday"
        " mondays tuesdays wednesdays thursdays fridays saturdays sundays"
        " jan january feb february march april june july"
        " aug august sept september oct october nov november dec december",
        digits=True,
    ),
    _sign(Has.TIME, _MAY, "may", digits=True),
    _sign(
        Has.NUMBER,
        _NUMBER,
        "two three four five six seven eight nine ten eleven twelve dozen hundred thousand twice couple once several",
        digits=True,
    ),
    _sign(
        Has.REASON,
        _REASON,
        "because since so reason reasons wanted help helps helped remind reminds reminded thanks due",
        stems="inspir motivat",
    ),
    _sign(Has.STANDING, _STANDING, "always never ask now prefer me answers replies responses"),
    _sign(Has.PLACE, _PLACE, "in at to from near around called", stems="visit"),
)
_ASKS, _ENDS_ASKING, _NAMED = (int(has) for has in (Has.ASKS, Has.ENDS_ASKING, Has.NAME))


def features(text: str) -> Features:
    folded = text.casefold()
    return features_of(text, folded, words_in(folded))


def words_in(folded: str) -> list[str]:
    """Return the words of a text in lower case."""
    return _WORD.findall(folded)


def features_of(text: str, folded: str, words: list[str]) -> Features:
    """As `features`, of a text that is in lower case and cut into words already."""
    there = frozenset(words)
    count = max(1, len(words))
    return Features(
        len(words),
        _asking(text) | _telling(text, folded, there) | _naming(text),
        sum(map(words.count, _FIRST & there)) / count,
        sum(map(words.count, _SECOND & there)) / count,
    )


def _asking(text: str) -> int:
    if "?" not in text and "？" not in text:
        return 0
    return _ASKS | (_ENDS_ASKING if text.rstrip(" \n\t\"'”’)").endswith(("?", "？")) else 0)


def _telling(text: str, folded: str, words: frozenset[str]) -> int:
    digit = _DIGIT.search(text) is not None
    has = 0
    for flag, pattern, triggers, stems, digits in SIGNS:
        possible = (
            (digits and digit) or not triggers.isdisjoint(words) or (stems and any(map(folded.__contains__, stems)))
        )
        if possible and pattern.search(text):
            has |= flag
    return has


def _naming(text: str) -> int:
    quotes = '"' in text or "“" in text
    return _NAMED if _NAME.search(text) or (quotes and _QUOTED.search(text)) else 0
