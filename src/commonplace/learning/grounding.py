"""A model proposes; the message decides. A claim that the message does not say is dropped, and counted.

Its quotation must stand in the message, or else its own content words must; and so must every name, number and content
word of its value. Case, white space and quotation marks do not count, nor do the endings of words that are no names.
"""

import re
import unicodedata
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from commonplace.domain.attributes import ATTRIBUTES, DETAIL, FAVOURITE, attribute_named
from commonplace.domain.claims import Claim, Proposal
from commonplace.domain.values import Message

_WORD = re.compile(r"\w+", re.UNICODE)
_EMPTY = frozenset(
    _WORD.findall(
        "a an the and or of to in on at by for from with as is are was were be been am do does did has have had not no"
        " user users s i me my we our you your he she it they his her its their this that these those now currently one"
    )
)
_ENOUGH = 0.75
"""Share of the content words of a quotation that must be in the message when it does not stand there as it is."""
_LONGEST = 300


class Grounded(NamedTuple):
    claims: tuple[Claim, ...]
    dropped: int


def ground(proposals: Sequence[Proposal], message: Message, *, text: str | None = None) -> Grounded:
    """Return the claims that the message makes. `text` is what of it may be read, word for word in its place."""
    said = _Said(message.text if text is None else text)
    kept = [claim for proposal in proposals if (claim := _claim(proposal, said))]
    return Grounded(tuple(kept), len(proposals) - len(kept))


class _Said:
    """A message, to look for words in."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.folded = _folded(text)
        self.words = frozenset(_WORD.findall(self.folded))
        self.stems = frozenset(map(_stem, self.words))

    def has(self, words: Sequence[str]) -> float:
        return sum(_stem(word) in self.stems for word in words) / len(words) if words else 0.0


def _claim(proposal: Proposal, said: _Said) -> Claim | None:
    span = _span(proposal.quote, said)
    attribute = known_attribute(proposal.attribute)
    if span is None or attribute is None or not _says_value(proposal, said):
        return None
    row = attribute_named(attribute)
    start, stop = proposal.valid_from, proposal.valid_to
    if start and stop and stop <= start:
        stop = None
    return Claim(
        text=proposal.text.strip(),
        subject=_subject(proposal.subject, said),
        attribute=attribute,
        value=proposal.value.strip(),
        standing=proposal.standing,
        kind=proposal.kind or row.kind,
        confidence=min(max(proposal.confidence, 0.0), 1.0),
        importance=row.importance if proposal.importance is None else min(max(proposal.importance, 0.0), 1.0),
        valid_from=_aware(start),
        valid_to=_aware(stop),
        start=span[0],
        stop=span[1],
    )


def known_attribute(name: str) -> str | None:
    """Return the name as the attribute table has it; what no row knows is a detail. None for what is no name."""
    plain = " ".join(_WORD.findall(name.casefold().replace("_", " ")))
    for candidate in (plain.replace(" ", "_"), plain):
        if candidate in ATTRIBUTES:
            return candidate
    if not plain or len(plain) > 60:
        return None
    if plain.startswith("favorite "):
        plain = plain.replace("favorite", FAVOURITE.name, 1)
    if plain.startswith((f"{FAVOURITE.name} ", f"{DETAIL.name} ")):
        return plain
    return f"{DETAIL.name} {plain}"


def _says_value(proposal: Proposal, said: _Said) -> bool:
    """An ending may leave open what ends; a text must have something in it."""
    words = _content(proposal.value)
    names = [_folded(word) for word in _WORD.findall(proposal.value) if not word.islower()]
    if any(name not in said.words for name in names if name in words):
        return False
    if not words:
        return proposal.standing in ("ended", "denied") and bool(proposal.text.strip())
    return bool(proposal.text.strip()) and said.has(words) == 1.0


def _subject(subject: str, said: _Said) -> str:
    plain = " ".join(subject.casefold().replace("’", "'").split()) or "user"
    return "user" if plain in {"i", "me", "the user", "speaker", "the speaker"} else plain


def _span(quote: str, said: _Said) -> tuple[int, int] | None:
    """Return where the quotation stands; the whole message if only its content words do."""
    words = _WORD.findall(_folded(quote))[:_LONGEST]
    if not words:
        return None
    found = re.search(r"\W+".join(map(re.escape, words)), said.folded)
    if found and _bounded(found, said.folded):
        return found.span()
    content = _content(quote)
    return (0, len(said.text)) if content and said.has(content) >= _ENOUGH else None


def _bounded(found: re.Match[str], text: str) -> bool:
    """Tell whether the quotation begins and ends with whole words."""
    before, after = text[: found.start()][-1:], text[found.end() :][:1]
    return not _WORD.match(before) and not _WORD.match(after)


def _content(text: str) -> list[str]:
    words = _WORD.findall(_folded(text))
    return [word for word in words if word not in _EMPTY] or [word for word in words if word.isdigit()]


def _folded(text: str) -> str:
    """Return the text without case and accents, each character in its place."""
    return "".join(_plain(char) for char in text)


def _plain(char: str) -> str:
    if char.isascii():
        return char.lower()
    base = unicodedata.normalize("NFKD", char.lower())[:1]
    return base or char


def _stem(word: str) -> str:
    """Cut the usual English endings, roughly: a model writes "uses" for "use" and "running" for "run"."""
    for ending in ("ies", "ing", "ed", "es", "s", "y", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)]
            break
    return word[:-1] if len(word) > 3 and word[-1:] == word[-2:-1] else word


def _aware(moment: datetime | None) -> datetime | None:
    return moment.replace(tzinfo=UTC) if moment is not None and moment.tzinfo is None else moment
