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
    has: Has
    first_person: float
    """Share of I, my, we … among the words."""
    second_person: float


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
_NUMBER = re.compile(
    r"\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|hundred|thousand|twice|couple|once|several)\b",
    re.IGNORECASE,
)
_NAME = re.compile(r"(?<=[a-z,] )(?!I\b)[A-Z]\w+|\"[^\"]+\"|“[^”]+”")

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


def features(text: str) -> Features:
    words = _WORD.findall(text.casefold())
    found = {
        Has.ASKS: "?" in text or "？" in text,
        Has.ENDS_ASKING: text.rstrip(" \n\t\"'”’)").endswith(("?", "？")),
        Has.TIME: bool(_TIME.search(text) or _MAY.search(text)),
        Has.PLACE: bool(_PLACE.search(text)),
        Has.NUMBER: bool(_NUMBER.search(text)),
        Has.NAME: bool(_NAME.search(text)),
        Has.REASON: bool(_REASON.search(text)),
        Has.STANDING: bool(_STANDING.search(text)),
    }
    has = Has.NOTHING
    for flag, there in found.items():
        has |= flag if there else Has.NOTHING
    count = max(1, len(words))
    first = sum(word in _FIRST for word in words) / count
    second = sum(word in _SECOND for word in words) / count
    return Features(len(words), has, first, second)
