"""Made-up messages and questions with vectors to match: topics give both their words and their place in space.

The vectors are clustered as those of real sentences are; among evenly spread ones no index finds its way.
"""

from collections.abc import Sequence
from functools import lru_cache
from itertools import count
from typing import NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from commonplace.ports.token_embedder import Read
from commonplace.recall.late import projection

Vectors = NDArray[np.float32]

VOCABULARY = 4_000
TOPICS = 120
OF_TOPIC, OF_TALK = 9, 9
"""Words of a message that come from its topic, and from everywhere."""


def vector_of(text: str, dimensions: int) -> Vectors:
    """Return a unit vector that any process gives to this text."""
    vector: Vectors = _units(np.random.default_rng(crc32(text.encode())).standard_normal((1, dimensions), np.float32))[
        0
    ]
    return vector


class Question(NamedTuple):
    text: str
    vector: Vectors


class Material:
    def __init__(self, *, items: int, dimensions: int = 384, seed: int = 7) -> None:
        self.dimensions = dimensions
        self._random = np.random.default_rng(seed)
        centres = self._random.standard_normal((TOPICS, dimensions), np.float32)
        lexicon = self._random.choice(VOCABULARY, (TOPICS, 40))
        topics = self._random.integers(0, TOPICS, items)
        self.vectors = self._near(centres[topics])
        self.texts = self._written(lexicon[topics])
        self._vectors = dict(zip(self.texts, self.vectors, strict=True))
        self._serial = count()

    def ask(self, about: int) -> Question:
        """Return a question about an item, in some of its words. None is asked twice: vectors are cached by text."""
        words = self.texts[about].split()
        number = next(self._serial)
        picked = self._random.choice(words[:OF_TOPIC], 4, replace=False)
        text = f"What about {' '.join(picked)} {WORDS[number % VOCABULARY]} {WORDS[number // VOCABULARY]}?"
        vector: Vectors = self._near(self.vectors[about][np.newaxis], spread=0.03)[0]
        self._vectors[text] = vector
        return Question(text, vector)

    def embed(self, texts: list[str]) -> Vectors:
        """Look the vectors up: the plain function that a memory takes as its embedder."""
        if len(texts) == 1:
            return self._vector(texts[0])[np.newaxis]
        return np.stack([self._vector(text) for text in texts])

    def _vector(self, text: str) -> Vectors:
        said = text.partition("] ")[2] if text.startswith("[") else text
        found = self._vectors.get(said)
        return vector_of(text, self.dimensions) if found is None else found

    def _near(self, centres: Vectors, *, spread: float = 0.8) -> Vectors:
        return _units(centres + spread * self._random.standard_normal(centres.shape, np.float32))

    def _written(self, topics: NDArray[np.int64]) -> list[str]:
        """Return a text for each row. Its last two words are its number, so that no two are the same."""
        rows = len(topics)
        own = np.take_along_axis(topics, self._random.integers(0, topics.shape[1], (rows, OF_TOPIC)), axis=1)
        # Squared: like words of a language, a few are frequent and most are rare.
        talk = (VOCABULARY * self._random.random((rows, OF_TALK)) ** 2).astype(np.int64)
        numbers = np.arange(rows)
        words = np.column_stack([own, talk, numbers % VOCABULARY, numbers // VOCABULARY])
        return [" ".join(WORDS[word] for word in row) for row in words.tolist()]


class Reader:
    """The same vectors from an embedder that shows its tokens, too: one for each word, wherever that stands."""

    def __init__(self, material: Material) -> None:
        self._material = material
        self.identity, self.dimensions = "made up", material.dimensions

    async def embed(self, texts: Sequence[str]) -> Vectors:
        return self._material.embed(list(texts))

    async def read(self, texts: Sequence[str]) -> list[Read]:
        words = [text.partition("] ")[2].lower().strip("?").split() or ["nothing"] for text in texts]
        vectors = await self.embed(texts)
        return [Read(vector, each, _tokens(tuple(each))) for vector, each in zip(vectors, words, strict=True)]


def _tokens(words: tuple[str, ...]) -> Vectors:
    return np.stack([_token(word) for word in words])


@lru_cache(maxsize=1 << 14)
def _token(word: str) -> Vectors:
    return vector_of(word, len(projection()))


def _units(vectors: Vectors) -> Vectors:
    lengths: Vectors = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / lengths


def _words(count: int) -> Sequence[str]:
    """Return made-up words that read like a language: two or three syllables."""
    heads = [
        head + vowel
        for head in ("b", "br", "d", "f", "gr", "k", "l", "m", "n", "p", "r", "st", "t")
        for vowel in "aeiou"
    ]
    tails = [f"{head}{vowel}{end}" for head in "bdklmnrst" for vowel in "aeiou" for end in ("", "n", "r", "l")]
    return [heads[n % len(heads)] + tails[n // len(heads) % len(tails)] for n in range(count)]


WORDS = _words(VOCABULARY)
STATEMENTS = (
    "I use {} as a productivity tool",
    "I love {}",
    "My sister lives in {}",
    "I work for {}",
    "I don't like {}",
)


def statement(number: int) -> str:
    """Return something worth learning: a sentence in the first person about a thing with a made-up name."""
    name = f"{WORDS[number * 7 % VOCABULARY]}{WORDS[number % VOCABULARY]}".capitalize()
    return STATEMENTS[number % len(STATEMENTS)].format(name)
