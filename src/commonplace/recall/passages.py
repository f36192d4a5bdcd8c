"""Long texts are indexed in passages, cut at sentence ends; a short text is one passage, the whole of it.

The passages cover the text without gap or overlap, so a place in a passage is a place in the text.
"""

import re
from collections.abc import Iterator

WHOLE = 90
"""A text of up to so many words stays whole."""
SIZE = 60
"""Words in a passage of a longer one."""
MANY = 64
"""Past so many passages they get larger instead of more …"""
MOST = 256
"""… so that there are never more than this."""

# Scripts without spaces count two characters as a word; a longer run of anything (base64) is several words.
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]{1,2}|\w{1,24}")
_END = re.compile(r"[.!?…]+[\"'”’)\]]*(?=\s)|[。！？]+[」』”）]*|\n")

Span = tuple[int, int]


def passages(text: str) -> list[Span]:
    """Return (start, stop) of each passage in order. There is always at least one, and they cover the whole text."""
    if len(text) < 2 * WHOLE and text.isascii():
        return [(0, len(text))]  # it cannot hold more words, and counting them is what takes the time
    starts = [word.start() for word in _WORD.finditer(text)]
    if len(starts) <= WHOLE:
        return [(0, len(text))]
    size = SIZE if len(starts) <= MANY * SIZE else max(SIZE, -(-len(starts) * 2 // (MOST - 2)))
    cuts = [0, *_cuts(text, starts, size), len(text)]
    return list(zip(cuts, cuts[1:], strict=False))


def _cuts(text: str, starts: list[int], size: int) -> Iterator[int]:
    """Yield where a new passage begins: greedily, the last sentence end that keeps the passage within `size` words."""
    begun = 0
    for first, last in _sentences(text, starts):
        if last - begun <= size:
            continue
        if first > begun:
            yield starts[first]
            begun = first
        while last - begun > size:
            begun += size
            yield starts[begun]


def _sentences(text: str, starts: list[int]) -> Iterator[Span]:
    """Yield each sentence as the numbers of its first word and of the first word after it."""
    first = word = 0
    for end in _END.finditer(text):
        while word < len(starts) and starts[word] < end.end():
            word += 1
        if word > first:
            yield first, word
            first = word
    if first < len(starts):
        yield first, len(starts)
