"""Late interaction: each word of the question looks for its nearest word in a message, by the vectors of their tokens.

Token vectors are shortened from 384 to 64 numbers of one byte by a fixed matrix (`bench/projection.py` makes it): with
the words that count of a message, about 18, they take 1.2 KB. In full length hit@1 gains 0.6 points for 24 times that.
"""

from collections.abc import Sequence
from functools import lru_cache
from importlib.resources import files
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from commonplace.recall.growing import Growing
from commonplace.recall.neighbours import neighbours
from commonplace.recall.terms import term_of
from commonplace.recall.threads import Slots, Threads
from commonplace.recall.weights import Weights

WIDTH = 64
SCALE = 127
ONE_THREAD = 1 << 18
"""Multiplications up to which OpenBLAS does not share out a product."""
Floats = NDArray[np.float32]


class QueryTokens(NamedTuple):
    """The tokens of a question that are no stop words: their short vectors, and the terms that they are part of."""

    vectors: Floats
    terms: tuple[int, ...]


@lru_cache(maxsize=1)
def projection() -> Floats:
    with files("commonplace.recall").joinpath("projection.npy").open("rb") as file:
        matrix: Floats = np.load(file, allow_pickle=False).astype(np.float32)
    return matrix


def short_tokens(words: Sequence[str], tokens: Floats, *, language: str) -> QueryTokens:
    """Leave out stop words and punctuation, and shorten the rest."""
    terms = [term_of(word, language) if any(map(str.isalnum, word)) else None for word in words]
    kept = [number for number, term in enumerate(terms) if term is not None]
    long = tokens[kept]
    short = _projected(long / np.maximum(np.linalg.norm(long, axis=1, keepdims=True), 1e-9))
    short /= np.maximum(np.linalg.norm(short, axis=1, keepdims=True), 1e-9)
    return QueryTokens(short.astype(np.float32), tuple(term for term in terms if term is not None))


def _projected(long: Floats) -> Floats:
    """Multiply a few rows at a time. A larger product wakes the threads of BLAS, which then spin beside the model's."""
    matrix = projection()
    rows = max(1, ONE_THREAD // matrix.size)
    parts = [long[start : start + rows] @ matrix for start in range(0, len(long), rows)]
    return np.concatenate([np.empty((0, matrix.shape[1]), np.float32), *parts])


def packed(tokens: QueryTokens) -> bytes:
    """Return what is stored of a message's tokens."""
    return np.rint(tokens.vectors * SCALE).astype(np.int8).tobytes()


class Tokens:
    """The tokens of a partition's rows, those of one row after each other."""

    def __init__(self) -> None:
        self._cells: Growing[np.int8] = Growing(np.int8, width=WIDTH)
        self._starts: Growing[np.int64] = Growing(np.int64)
        self._counts: Growing[np.int64] = Growing(np.int64)

    @property
    def nbytes(self) -> int:
        return self._cells.nbytes + self._starts.nbytes + self._counts.nbytes

    def __len__(self) -> int:
        """How many tokens there are."""
        return len(self._cells)

    def append(self, packed: Sequence[bytes | None]) -> None:
        counts = np.array([len(row or b"") // WIDTH for row in packed], np.int64)
        self._starts.append(len(self._cells) + np.cumsum(counts) - counts)
        self._counts.append(counts)
        cells = np.frombuffer(b"".join(row or b"" for row in packed), np.int8)
        self._cells.append(cells.reshape(-1, WIDTH))

    def nearest(self, slots: Slots, vectors: Floats) -> Floats:
        """Return for each row and each vector the cosine of the row's nearest token; 0 for a row without tokens."""
        counts = self._counts.cells[slots]
        best = np.zeros((len(slots), len(vectors)), np.float32)
        there = counts > 0
        if not there.any() or not len(vectors):
            return best
        counts, starts = counts[there], self._starts.cells[slots[there]]
        ends = np.cumsum(counts)
        places = np.arange(ends[-1]) + np.repeat(starts - ends + counts, counts)
        cosines = self._cosines(places, vectors)
        best[there] = np.maximum.reduceat(cosines, ends - counts, axis=0)
        return best

    def _cosines(self, places: Slots, vectors: Floats) -> Floats:
        """Multiply in pieces that BLAS does on this thread: waking its others costs 11 ms of processor time, not 4."""
        cosines = np.empty((len(places), len(vectors)), np.float32)
        turned = vectors.T / np.float32(SCALE)
        piece = max(1, ONE_THREAD // turned.size)
        for start in range(0, len(places), piece):
            part = self._cells.cells[places[start : start + piece]].astype(np.float32)
            np.matmul(part, turned, out=cosines[start : start + piece])
        return cosines


class Interaction(NamedTuple):
    """How much of the question each row covers, 0..1."""

    mixed: Floats
    """With its neighbours."""
    before: Floats
    """The message before it, alone."""
    reach: Floats
    """The mean cosine of the question's tokens with the nearest ones of the message, the two before it and the next."""


def interact(
    tokens: Tokens,
    slots: Slots,
    query: QueryTokens,
    *,
    threads: Threads,
    asking: NDArray[np.bool_],
    term_weights: dict[int, float],
    weights: Weights,
) -> Interaction:
    """Compare the question with these rows, word by word. `asking` has one cell more, for nobody."""
    rows = threads.around(slots, reach=max(len(weights.before), len(weights.after)))
    cosines = np.append(tokens.nearest(rows, query.vectors), np.zeros((1, len(query.terms)), np.float32), axis=0)
    soft = np.maximum(0, (cosines - weights.near) / (1 - weights.near)) ** 2
    place = np.full(len(asking), len(rows))
    place[rows] = np.arange(len(rows))
    mixed = soft[place[slots]]
    for weight, neighbour in neighbours(slots, threads, asking, weights):
        mixed += weight[:, None] * soft[place[neighbour]]
    share = np.array([term_weights.get(term, 0.0) for term in query.terms], np.float32)
    share /= max(float(share.sum()), 1e-9)
    before = threads.before(slots)
    about = (slots, before, threads.before(before), threads.after(slots))
    k = np.float32(weights.saturation)
    return Interaction(
        mixed=(mixed / (mixed + k)) @ share,
        before=(soft[place[before]] / (soft[place[before]] + k)) @ share,
        reach=np.maximum.reduce([cosines[place[each]] for each in about]) @ share,
    )
