"""Words that a message only repeats from memory: its user does not say them anew, so they are not learned again.

They are blanked, not cut, so that every other word keeps its place.
"""

import re
from collections.abc import Iterable

_FENCE = re.compile(r"<memory>.*?(?:</memory>|\Z)", re.DOTALL | re.IGNORECASE)
_DAY = r"\d{1,2} [A-Z][a-z]{2} \d{4}"
_LINE = re.compile(
    rf"^[ \t>*-]*(?:[^\n]+\(said {_DAY}\)[^\n]*|\[{_DAY}\] [^:\n]{{1,80}}: [^\n]*)$",
    re.MULTILINE,
)
"""One line of a context: a fact with the day it was said, or a message with its day and speaker."""
_SHORTEST = 12
"""Characters: a known text that is shorter may well be said by chance."""


def without_echoes(text: str, known: Iterable[str] = ()) -> str:
    """Return the text with what was recalled blanked: fenced, line by line, or word for word as in `known`."""
    if "<memory>" in text.lower():
        text = _FENCE.sub(_blank, text)
    if "(said " in text or "] " in text:
        text = _LINE.sub(_blank, text)
    for phrase in known:
        if len(phrase) >= _SHORTEST and phrase.casefold() in text.casefold():
            text = re.sub(re.escape(phrase), _blank, text, flags=re.IGNORECASE)
    return text


def _blank(found: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", found[0])
