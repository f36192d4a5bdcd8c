"""Is this the same thing in other words? Compares the values of claims and facts, word by word.

It leans to "other": two facts about one thing are a nuisance, one fact about two things is a lie.
"""

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from typing import Literal

Likeness = Literal["same", "more", "less", "part", "other"]
"""How a new value relates to a known one. `more`: the same with more detail, `less`: with less of it.
`part`: one is within the other ("Honda", "Honda Civic"): enough to say what an ending means, not to merge two facts."""

ALIKE = 0.9
"""Two statements of one attribute whose embeddings are at least this close say the same, if `may_be_alike` lets them.

Calibrated with all-MiniLM-L6-v2 on tests/learning/data/alike.tsv: the closest pair that is not the same has 0.885."""

_WORD = re.compile(r"\w+(?:[+#]+|'\w+)?", re.UNICODE)
_EMPTY = frozenset(re.findall(r"\w+", "a an the my our your his her its their some any this that these those of and"))
_NAMING = frozenset({"named", "called"})
_DETAIL = re.compile(r",|\(|\b(?:as|at|by|called|for|from|in|into|named|near|on|since|to|which|who|with)\b")
_SILENT = _EMPTY | _NAMING
_LINKS = frozenset({"about", "at", "by", "for", "in", "on"})
_TO_TWELVE = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_NUMBERS = {word: number for number, word in enumerate(_TO_TWELVE, start=1)}
_VOWELS = frozenset("aeiouy")


@lru_cache(maxsize=8_192)
def compare(new: str, known: str) -> Likeness:
    """Return how the new value relates to the known one."""
    left, right = _words(new), _words(known)
    if not left or not right:
        return "same" if left == right else "other"
    if not _initials(new) & _initials(known):
        return "other"
    if _equal(left, right):
        return "same"
    if _detailed(new, known):
        return "more"
    if _detailed(known, new):
        return "less"
    return "part" if _within(left, right) or _within(right, left) else "other"


def is_a_named(name: str, kind: str, text: str) -> bool:
    """Tell whether the text gives the name of such a thing: "User has a dog named Rex" names a "dog"."""
    return kind.islower() and not name.islower() and _within(_words(kind), _words(text))


def more_said(new: str, known: str) -> bool:
    """Tell whether the new sentence says everything that the known one says, and something more."""
    left, right = _words(new), _words(known)
    return len(left) > len(right) and not _missing(right, left)


def may_be_alike(new: str, known: str) -> bool:
    """Tell whether embeddings may be asked if two values are one.

    They put "buy a house" beside "sell a house" (0.92), and one name beside another: so names and numbers must agree,
    and the values may not differ in a single word, nor one of them only add some.
    """
    left, right = _words(new), _words(known)
    apart, also_apart = _missing(left, right), _missing(right, left)
    if any(not word.islower() for word in (*apart, *also_apart)):
        return False
    return min(len(apart), len(also_apart)) >= 1 and len(apart) + len(also_apart) > 2


def recounts(new: str, known: str) -> bool:
    """Tell whether the new value is another number of what the known one counts: "three cats" of "two cats"."""
    left, right = _words(new), _words(known)
    number = _number(left[0]) if len(left) > 1 else None
    if number is None or not right or number == _number(right[0]):
        return False
    counted = right if _number(right[0]) is None else right[1:]
    same = len(counted) == len(left) - 1 and all(map(_alike, left[1:], counted))
    return same and all(word.islower() for word in counted)


def _number(word: str) -> int | None:
    return int(word) if word.isdecimal() else _NUMBERS.get(word.lower())


def share_a_word(new: str, known: str) -> bool:
    left = _words(new)
    return len(_missing(left, _words(known))) < len(left)


@lru_cache(maxsize=8_192)
def _words(text: str) -> tuple[str, ...]:
    plain = text
    if not text.isascii():
        apart = unicodedata.normalize("NFKD", text)
        plain = "".join(char for char in apart if not unicodedata.combining(char)).replace("ß", "ss")
    found = _WORD.findall(plain)
    kept = [word.removesuffix("'s") for word in found if word.lower() not in _SILENT]
    return tuple(kept or found)


@lru_cache(maxsize=8_192)
def _initials(text: str) -> frozenset[str]:
    """Return what the words begin with: values that have none of it in common need no closer look."""
    return frozenset(word[0].casefold() for word in _words(text))


def _missing(words: Sequence[str], others: Sequence[str]) -> list[str]:
    return [word for word in words if not any(_alike(word, other) for other in others)]


def _equal(left: Sequence[str], right: Sequence[str]) -> bool:
    if "".join(left).casefold() == "".join(right).casefold():
        return True
    return _aligned(left, right) or _reordered(left, right)


def _reordered(left: Sequence[str], right: Sequence[str]) -> bool:
    """Tell whether common words say the same the other way round: "pain in the back", "back pain"."""
    left, right = ([word for word in words if word not in _LINKS] for words in (left, right))
    common = all(word.islower() for word in (*left, *right))
    return common and len(left) == len(right) and not _missing(left, right) and not _missing(right, left)


def _aligned(left: Sequence[str], right: Sequence[str]) -> bool:
    """Tell whether the words pair up in order, a short form ("VS") counting as the words it stands for."""
    if not left or not right:
        return not left and not right
    if _alike(left[0], right[0]):
        return _aligned(left[1:], right[1:])
    return _spelt_out(left, right) or _spelt_out(right, left)


def _spelt_out(short: Sequence[str], long: Sequence[str]) -> bool:
    head = short[0]
    if not (head.isupper() and 2 <= len(head) <= min(5, len(long))):
        return False
    initials = "".join(word[0] for word in long[: len(head)]).upper()
    return initials == head and _aligned(short[1:], long[len(head) :])


def _alike(left: str, right: str) -> bool:
    """Tell whether two words are one: case never counts, endings do not count in common nouns and verbs."""
    if left.casefold() == right.casefold():
        return True
    if left.islower() and right.islower():
        return _stem(left) == _stem(right)
    return (left.islower() or right.islower()) and _singular(left.casefold()) == _singular(right.casefold())


def _singular(word: str) -> str:
    if len(word) < 4 or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("ches", "shes", "sses", "xes", "zes")):
        return word[:-2]
    return word.removesuffix("s")


@lru_cache(maxsize=8_192)
def _stem(word: str) -> str:
    stem = _singular(word)
    for ending in ("ing", "ed", "er"):
        rest = stem.removesuffix(ending)
        if rest != stem and len(rest) >= 3 and _VOWELS & set(rest):
            stem = rest[:-1] if len(rest) > 3 and rest[-1] == rest[-2] else rest
            break
    return stem.removesuffix("e")


def _detailed(long: str, short: str) -> bool:
    """Tell whether `long` is `short` and then more about it: "dog named Rex" is a "dog", "Berlin, Germany" "Berlin"."""
    head, rest = _split_detail(long)
    return bool(rest) and _equal(head, _words(short))


def _split_detail(text: str) -> tuple[Sequence[str], str]:
    found = _DETAIL.search(text)
    return (_words(text[: found.start()]), text[found.start() :]) if found else (_words(text), "")


def _within(short: Sequence[str], long: Sequence[str]) -> bool:
    """Tell whether the words of `short` stand in `long`, in one piece."""
    size = len(short)
    return size < len(long) and any(_aligned(short, long[at : at + size]) for at in range(len(long) - size + 1))
