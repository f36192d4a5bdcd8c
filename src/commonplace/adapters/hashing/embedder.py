"""Embedder by hashing: each word is a direction given by its hash, a text is the sum of its words.

The same on every machine and in every version of Python, which `hash()` is not.
"""

import hashlib
import re
from collections.abc import Sequence

import numpy as np

from commonplace.domain.errors import InvalidInput
from commonplace.ports.embedder import Vectors

FEWEST = 8
WORD = re.compile(r"\w+")


class HashEmbedder:
    def __init__(self, dimensions: int = 256) -> None:
        if dimensions < FEWEST:
            raise InvalidInput(f"dimensions={dimensions}: expected at least {FEWEST}")
        self._dimensions = dimensions

    @property
    def identity(self) -> str:
        return f"hash/{self._dimensions}"

    @property
    def dimensions(self) -> int:
        return self._dimensions

    async def embed(self, texts: Sequence[str]) -> Vectors:
        if isinstance(texts, str) or not all(isinstance(text, str) for text in texts):
            raise InvalidInput(f"texts: expected a list of strings, got a {type(texts).__name__}")
        rows = [_text_direction(text, self._dimensions) for text in texts]
        return np.stack(rows) if rows else np.empty((0, self._dimensions), np.float32)


def _text_direction(text: str, dimensions: int) -> Vectors:
    total = np.zeros(dimensions, np.float32)
    for word in set(WORD.findall(text.casefold())):
        total += _word_direction(word, dimensions)
    # A text without words still needs a direction, and so do words that happen to cancel each other out.
    direction = total if total.any() else _word_direction(f"no words: {text}", dimensions)
    return np.asarray(direction / np.linalg.norm(direction), np.float32)


def _word_direction(word: str, dimensions: int) -> Vectors:
    """Return one sign per dimension: the directions of two words are nearly at right angles."""
    digest = hashlib.shake_128(word.encode("utf-8", "surrogatepass")).digest(-(-dimensions // 8))
    bits = np.unpackbits(np.frombuffer(digest, np.uint8))[:dimensions]
    return bits.astype(np.float32) * 2 - 1
