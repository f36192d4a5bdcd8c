"""Words with their place in the message.

A contraction becomes its words, which share one place: "don't" is `do`, `not`.
"""

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from commonplace.adapters.rules.patterns import Pattern


class Token(NamedTuple):
    text: str
    low: str
    start: int
    stop: int

    @property
    def named(self) -> bool:
        """Starts like a name. A word in capitals throughout says nothing, but is not held against it."""
        return self.text[:1].isupper() or self.text[1:2].isupper()


_WORD = Pattern(
    r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"
    r"|(?:St|Dr|Mr|Mrs|Ms|Prof|Jr|Sr)\.(?=\s)"
    r"|(?<!\w)[A-Z]\.(?=\s?[A-Z])"
    r"|(?<!\w)\+?\d+(?:[.,:]\d+)*\w*(?:-\w+)*"
    r"|\w+(?:['./&\-]\w+)*(?:\+\+|#|\+)?"
    r"|\S"
)
_SUFFIXES = {"'m": "am", "'re": "are", "'ve": "have", "'ll": "will", "'d": "would"}
_APART = {
    "im": ("i", "am"),
    "n": ("and",),
    "ive": ("i", "have"),
    "cannot": ("can", "not"),
    "gonna": ("going", "to"),
    "wanna": ("want", "to"),
    "youre": ("you", "are"),
    "theyre": ("they", "are"),
    "gotta": ("have", "to"),
    "ain't": ("am", "not"),
    "aint": ("am", "not"),
    "can't": ("can", "not"),
    "cant": ("can", "not"),
    "won't": ("will", "not"),
    "wont": ("will", "not"),
    "shan't": ("will", "not"),
    "let's": ("let", "us"),
    "lets": ("let", "us"),
    "y'all": ("you", "all"),
    "thats": ("that", "is"),
    "whats": ("what", "is"),
}
_NEGATED = (
    "do",
    "does",
    "did",
    "is",
    "are",
    "was",
    "were",
    "have",
    "has",
    "had",
    "would",
    "should",
    "could",
    "might",
    "must",
    "need",
)


@cache
def _contractions() -> dict[str, tuple[str, ...]]:
    table: dict[str, tuple[str, ...]] = dict(_APART)
    for verb in _NEGATED:
        table[f"{verb}n't"] = table[f"{verb}nt"] = (verb, "not")
    return table


def _split_off(text: str, low: str, start: int) -> list[Token]:
    """Cut "I've", "name's" and the like after the word."""
    cut = low.rfind("'")
    if cut > 0:
        ending = low[cut:]
        if ending in _SUFFIXES:
            end = start + len(text)
            return [
                Token(text[:cut], low[:cut], start, start + cut),
                Token(text[cut:], _SUFFIXES[ending], start + cut, end),
            ]
        if ending == "'s":
            end = start + len(text)
            return [Token(text[:cut], low[:cut], start, start + cut), Token(text[cut:], "'s", start + cut, end)]
    return [Token(text, low, start, start + len(text))]


def tokenise(text: str, start: int, stop: int) -> list[Token]:
    """Return the words and marks of text[start:stop]."""
    apart = _contractions()
    tokens: list[Token] = []
    for match in _WORD.finditer(text, start, stop):
        word = match.group()
        low = word.lower()
        if low in apart:
            tokens.extend(Token(part, part, match.start(), match.end()) for part in apart[low])
        elif "'" in low:
            tokens.extend(_split_off(word, low, match.start()))
        else:
            tokens.append(Token(word, low, match.start(), match.end()))
    return tokens


def words(tokens: Sequence[Token]) -> tuple[str, ...]:
    return tuple(token.low for token in tokens)


def surface(tokens: Sequence[Token]) -> str:
    """The words as they were written, with single spaces and no space before a mark."""
    out: list[str] = []
    for token in tokens:
        glued = token.text in _GLUED or token.low == "'s"
        out.append(token.text if glued or not out else f" {token.text}")
    return "".join(out)


_GLUED = frozenset({",", ".", ":", ")", "%"})
