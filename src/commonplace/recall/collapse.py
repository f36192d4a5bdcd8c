"""The same thing said twice takes up room once: with every day on which it was said."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from commonplace.domain.values import Recalled

_WORD = re.compile(r"\w+")
_FILLERS = frozenset(
    ("a", "an", "the", "so", "very", "really", "just", "also", "well", "oh", "ah", "um", "hey", "hi", "hello", "yes")
    + ("yeah", "ok", "okay", "please", "thanks", "thank", "quite", "actually", "too")
)
"""Words that may come and go without changing what is said. No negation and no number is among them."""


@dataclass(frozen=True, slots=True)
class Collapsed:
    item: Recalled
    """The best of those that say the same, at its latest day."""
    also: tuple[datetime, ...] = ()
    """When else it was said, the latest first."""


def collapse(items: Sequence[Recalled]) -> list[Collapsed]:
    """Return one for each thing said, in the order of the best of each."""
    groups: dict[object, list[Recalled]] = {}
    for item in items:
        groups.setdefault(_key(item), []).append(item)
    return [_collapsed(group) for group in groups.values()]


def _collapsed(group: Sequence[Recalled]) -> Collapsed:
    if len(group) == 1:
        return Collapsed(group[0])
    by_day = sorted(group, key=lambda item: item.at, reverse=True)
    latest = replace(by_day[0], score=max(one.score for one in group), relevance=max(one.relevance for one in group))
    return Collapsed(latest, tuple(dict.fromkeys(one.at for one in by_day[1:])))


def _key(item: Recalled) -> object:
    """What two items have in common that say the same: the speaker, what has become of it, and the words."""
    words = tuple(word for word in _WORD.findall((item.passage or item.text).casefold()) if word not in _FILLERS)
    if not words:
        return item.id
    said = item.kind == "message"
    return said or item.kind, item.name or item.role, item.note, None if said else item.valid_from, words
