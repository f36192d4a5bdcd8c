""" "No, I meant Thea": a correction without a verb takes its meaning from what the user said before."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from commonplace.adapters.rules.patterns import Pattern
from commonplace.domain.claims import Claim
from commonplace.domain.values import Message

_SHORT = 60
_ELLIPTIC = Pattern(
    r"\s*(?:(?P<lead>(?:(?:oh|well|ok|wait|hm+|ah|no|nope|sorry|actually|correction|oops|my mistake|my bad"
    r"|typo|(?:scratch|strike) that|i misspoke)[,:.! ]+)+)"
    r"(?:it's spelled|it's spelt|it's|it is|i meant|i mean|make that"
    r"|that should be|it should be|should be|that's|he's called|she's called)?"
    r"|(?P<meant>it's (?:spelled|spelt)|i (?:meant|mean|meant to say)|make that|it should be|that should be))"
    r"[,: ]+(?:actually |to say |in |at |the )?(?P<new>[^\s,.!?][^,.!?]{0,40}?)(?:,? (?:and )?not (?:in |at "
    r"|the )?(?P<old>[^,.!?]{1,40}?)|,? with an? [\w ]{1,12})?\s*[.!]*\s*",
    re.IGNORECASE,
)

_CLAUSE = Pattern(r"\b(?:i|my|me|we|our|you|he|she|they|it|who|that|which|is|are|was|has|have)\b", re.IGNORECASE)
"""What is more than a value."""


def is_elliptic(text: str) -> bool:
    """Whether the words may be a bare correction, which nobody understands who has not heard what came before."""
    return len(text) <= _SHORT and _ELLIPTIC.fullmatch(text) is not None


def correction(text: str, before: Sequence[Message], read: Callable[[Message], Sequence[Claim]]) -> Claim | None:
    """Return the corrected claim, if the message is a bare correction of something that one of the last messages
    claimed."""
    match = _ELLIPTIC.fullmatch(text) if len(text) <= _SHORT else None
    if match is None:
        return None
    new, old = match["new"].strip(), match["old"]
    if _CLAUSE.search(new):
        return None
    for message in reversed([message for message in before if message.role == "user"]):
        for claim in reversed(read(message)):
            if _meant(claim, new, old, sure=match["meant"] is not None or "meant" in text.lower()):
                start = match.start("new")
                return replace(
                    claim,
                    value=new,
                    text=claim.text.replace(claim.value, new),
                    standing="corrects",
                    confidence=0.95,
                    start=start,
                    stop=start + len(new),
                )
    return None


def _meant(claim: Claim, new: str, old: str | None, *, sure: bool) -> bool:
    """The two must look alike: a name corrects a name, a number a number."""
    if not claim.value or claim.value.casefold() == new.casefold() or claim.standing not in {"holds", "corrects"}:
        return False
    if old is not None:
        return claim.value.casefold() == old.strip().casefold()
    if _shape(claim.value) != _shape(new) or len(new.split()) > 4:
        return False
    return sure or _shape(new) != "word"


def _shape(value: str) -> str:
    if value[:1].isdigit():
        return "number"
    return "name" if value[:1].isupper() else "word"
