"""From text to terms: the words of a text in the form in which they are counted, as 64-bit hashes.

There is no vocabulary, on disk or in memory: a term that nobody uses any more leaves nothing behind.
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b
from importlib.resources import files
from types import MappingProxyType
from typing import NamedTuple

import snowballstemmer

STEMMERS = {
    "ar": "arabic",
    "ca": "catalan",
    "da": "danish",
    "de": "german",
    "el": "greek",
    "en": "english",
    "es": "spanish",
    "et": "estonian",
    "eu": "basque",
    "fi": "finnish",
    "fr": "french",
    "ga": "irish",
    "hi": "hindi",
    "hu": "hungarian",
    "hy": "armenian",
    "id": "indonesian",
    "it": "italian",
    "lt": "lithuanian",
    "ne": "nepali",
    "nl": "dutch",
    "no": "norwegian",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sr": "serbian",
    "sv": "swedish",
    "ta": "tamil",
    "tr": "turkish",
    "yi": "yiddish",
}
"""Languages whose words are stemmed. Every other language is searched by its word forms."""

MONTHS = (
    *("january", "february", "march", "april", "may", "june", "july"),
    *("august", "september", "october", "november", "december"),
)

# Vowel signs and other marks belong to their word, though Python's \w leaves some of them out.
_MARKS = (
    r"\u0300-\u036f\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc\u0900-\u0963\u0966-\u0dff\u0f00-\u0fff"
)
_PAIRS = (
    r"\u3005\u3007\u3040-\u30ff\u3100-\u312f\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\U00020000-\U0003134f"
)
_TRIPLES = r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
_ASCII = re.compile(r"[a-z0-9]+")
_ANY = re.compile(rf"([{_PAIRS}]+)|([{_TRIPLES}]+)|((?:(?![{_PAIRS}{_TRIPLES}_])[\w{_MARKS}])+)")
_ACCENTS = re.compile(r"[\u0300-\u036f]+")
_MAY = re.compile(r"(?<=[a-z,] )May\b|\bMay(?= \d)")
_LONGEST = 64
KEPT = 1 << 16
"""Words whose terms are kept, for each language."""


class Words(NamedTuple):
    """What a language needs beyond its stemmer."""

    stop: frozenset[str]
    forms: dict[str, str]


@lru_cache(maxsize=16)
def words_of(language: str) -> Words:
    """Return stop words and irregular forms; none for a language that has no file of them."""
    source = files("commonplace.recall").joinpath("words", f"{language}.txt")
    if not source.is_file():
        return Words(frozenset(), {})
    stop: set[str] = set()
    forms: dict[str, str] = {}
    for line in source.read_text(encoding="utf-8").splitlines():
        word, _, listed = line.partition(":")
        if word == "stop":
            stop.update(listed.split())
        elif listed:
            forms.update(dict.fromkeys(listed.split(), word))
    return Words(frozenset(stop), forms)


class Terms(dict[str, int | None]):
    """The hash of the term that a lower-case word of one language counts as; None for a stop word.

    It fills as words are asked for, and starts anew when it is full: to note which words were used last takes longer
    than to make the few anew that are still in use.
    """

    def __init__(self, language: str) -> None:
        super().__init__()
        self._stop, self._forms = words_of(language)
        self._stemmer = STEMMERS.get(language)

    def __missing__(self, word: str) -> int | None:
        if len(self) >= KEPT:
            self.clear()
        term = self[word] = None if word in self._stop else self._hashed(self._forms.get(word, word))
        return term

    def _hashed(self, word: str) -> int:
        # A stemmer holds the word that it works on, and several threads may be here.
        stem = snowballstemmer.stemmer(self._stemmer).stemWord(word) if self._stemmer else word
        return hashed(_ACCENTS.sub("", unicodedata.normalize("NFD", stem)))


@lru_cache(maxsize=16)
def terms_of(language: str) -> Terms:
    return Terms(language)


def term_of(word: str, language: str) -> int | None:
    """Return the hash of the term that a lower-case word counts as; None for a stop word."""
    return terms_of(language)[word]


def hashed(term: str) -> int:
    return int.from_bytes(blake2b(term.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def analyse(text: str, *, language: str = "en", words: Sequence[str] | None = None) -> dict[int, int]:
    """Return the terms of a text with their counts, in the order in which they first occur.

    `words` are those of the text in lower case, if somebody has cut it up already.
    """
    terms = terms_of(language)
    if words is not None and "May" not in text and text.isascii():
        return _counted(words, terms)
    plain = text if text.isascii() else unicodedata.normalize("NFKC", text)
    folded = (_MAY.sub("5month", plain) if "May" in plain else plain).casefold()
    if folded.isascii():
        return _counted(_ASCII.findall(folded), terms)
    found: list[int | None] = []
    for pairs, triples, word in _ANY.findall(folded):
        if word:
            found.append(terms[word[:_LONGEST]])
        else:
            found.extend([*_grams(pairs, 2), *_signs(pairs)] if pairs else _grams(triples, 3))
    return _counts(found)


def _counted(words: Sequence[str], terms: Terms) -> dict[int, int]:
    return _counts([terms[word[:_LONGEST]] for word in words])


def _counts(terms: Sequence[int | None]) -> dict[int, int]:
    """Return how often each occurs: a Counter takes twice as long for a sentence, and sentences are what people say."""
    counts: dict[int, int] = {}
    for term in terms:
        if term is not None:
            counts[term] = counts.get(term, 0) + 1
    return counts


def _grams(run: str, size: int) -> list[int]:
    """Return every piece of `size` characters of a run that has no spaces; a shorter run as it is."""
    return [_gram(run[i : i + size]) for i in range(max(1, len(run) - size + 1))]


def _signs(run: str) -> list[int]:
    """Return the ideographs of a run one by one: many are words, and their neighbours differ from text to text."""
    return [_gram(sign) for sign in run if len(run) > 1 and sign >= "\u3400" and not "\uac00" <= sign <= "\ud7af"]


@lru_cache(maxsize=1 << 16)
def _gram(piece: str) -> int:
    return hashed(piece)


@lru_cache(maxsize=4096)
def date_terms(year: int, month: int, day: int, language: str) -> Mapping[int, int]:
    """Return the terms by which a question may name a day, with their counts."""
    name = "5month" if month == 5 else MONTHS[month - 1]
    return MappingProxyType(_counted((str(day), name, str(year)), terms_of(language)))
