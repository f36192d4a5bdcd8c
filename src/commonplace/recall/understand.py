"""What a question asks for: its words, whom it names, when, and what kind of answer would do."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Literal

from commonplace.recall.terms import analyse
from commonplace.recall.when import Birthday, Window, window

Asks = Literal["when", "where", "how many", "why", "other"]

LONGEST = 120
"""Words. Of a longer prompt only its question is searched for."""

_SENTENCE = re.compile(r"[^.!?\n]*[.!?\n]*")
_TOLD = re.compile(
    r"\b(?:did you|have you|had you|you(?:'d| had|'ve| have)?) (?:ever |already |previously |just |also )?"
    r"(?:suggest|recommend|advise|propose|explain|tell|told|say|said|mention|describe|give|gave|given|list|provide|point|outline|help)(?:ed|d)?\b",
    re.IGNORECASE,
)
_REQUEST = re.compile(r"\b(?:can|could|would|will|should|do|please) you\b", re.IGNORECASE)
_HELP = re.compile(
    r"\b(?:can|could|would|will) you\b|\bhow (?:do|can|could|should|would|might) (?:i|we|you)\b|\bshould (?:i|we)\b"
    r"|\bwhat (?:\w+ ){0,4}(?:should|would|could|can) (?:i|we|you)\b"
    r"|\bi(?:'m| am) (?:looking|planning|trying|going) to\b"
    r"|^\W*(?:please|explain|show|help|write|give|suggest|recommend|describe|plan|draft|create|make|list)\b"
    r"|\bwhat are (?:the|some)\b|\bwhich \w+ (?:are|is) (?:best|used)\b",
    re.IGNORECASE,
)
_LOOKING_BACK = re.compile(
    r"\b(?:did|have|had) (?:i|we|you)\b|\b(?:i|we) (?:mention|brought|said|told|asked|talked|discuss|handled)"
    r"|\bour (?:conversation|discussion|session|chat)s?\b|\bso far\b|\bsummar|\bremind me\b",
    re.IGNORECASE,
)
_TALK = re.compile(
    r"\bsummar\w*\b.*\b(?:my|our|we|i)\b"
    r"|\bour (?:past |previous |earlier |last )?(?:conversation|discussion|session|chat)s?\b"
    r"|\bwe(?: have|'ve)? (?:talk|spoke|chat|discuss)\w*|\bacross (?:my|our|all) \w+",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    text: str
    terms: tuple[int, ...]
    names: frozenset[int]
    """Those of its terms that are the name of somebody who speaks in this partition."""
    speakers: frozenset[int]
    """The codes of the speakers it names."""
    asks: Asks
    about_assistant: bool
    """It asks what the assistant said."""
    about_talk: bool
    """It asks about the conversations as such: for a summary, for what was talked about."""
    requests: bool
    """It asks for help, which standing wishes have a say in, and not for what was said."""
    window: Window | None
    """The time that the question speaks of."""


def understand(
    text: str,
    *,
    speakers: Mapping[int, frozenset[int]],
    now: int,
    language: str = "en",
    birthday: Birthday | None = None,
    moved: date | None = None,
) -> Question:
    """Read a question. `speakers` maps the terms of speakers' names to their codes."""
    asked = shortened(text)
    terms = tuple(analyse(asked, language=language))
    names = frozenset(term for term in terms if term in speakers)
    return Question(
        text=asked,
        terms=terms,
        names=names,
        speakers=frozenset(code for name in names for code in speakers[name]),
        asks=_answer_type(asked),
        about_assistant=bool(_TOLD.search(asked)) and not _REQUEST.search(asked),
        about_talk=bool(_TALK.search(asked)),
        requests=bool(_HELP.search(asked)) and not _LOOKING_BACK.search(asked),
        window=window(asked, now=now, birthday=birthday, moved=moved),
    )


def shortened(text: str) -> str:
    """Return the question of a long prompt: its last sentence that asks, or else its end. A short one is left alone."""
    words = text.split()
    if len(words) <= LONGEST:
        return text
    sentences = [part for part in _SENTENCE.findall(text) if part.strip()]
    asking = [part for part in sentences if part.rstrip().endswith("?")]
    chosen = (asking[-1] if asking else sentences[-1]).split()
    return " ".join(chosen if 4 <= len(chosen) <= LONGEST else words[-LONGEST:])


_ANSWERS: tuple[tuple[Asks, re.Pattern[str]], ...] = (
    ("when", re.compile(r"\bwhen\b|\bwhat (?:date|day|month|year|time)\b|\bhow long ago\b", re.IGNORECASE)),
    ("where", re.compile(r"\bwhere\b|\b(?:what|which) (?:city|country|place|town|state)\b", re.IGNORECASE)),
    ("how many", re.compile(r"\bhow (?:many|much|long|often|old|far)\b", re.IGNORECASE)),
    ("why", re.compile(r"\bwhy\b|\breason|\bmotivat|\binspir", re.IGNORECASE)),
)


def _answer_type(text: str) -> Asks:
    return next((asks for asks, pattern in _ANSWERS if pattern.search(text)), "other")
