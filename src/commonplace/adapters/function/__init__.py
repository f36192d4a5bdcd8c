"""A plain function `list[str] -> (n, d) array` as an Embedder.

A function has no name that means anything in another process, so its identity is what it does: the digest of the vector
it gives to one fixed sentence.
"""

import asyncio
import hashlib
import math
import time
from collections.abc import Callable, Sequence
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from commonplace.domain.errors import EmbedderUnavailable, InvalidInput
from commonplace.ports.embedder import Vectors

PROBE = "A commonplace book keeps what is worth remembering."

FEW = 8
"""Texts that a quick function may be given on the event loop."""
SLOW = 0.002
"""Seconds that a call may take there."""
LONG = 0.02
"""Seconds that are no accident."""
MORE = 8
"""Times as many quick calls in a row are wanted after a long one there."""

Function = Callable[[list[str]], ArrayLike]
Clock = Callable[[], float]


class FunctionEmbedder:
    """Runs the function, one call at a time, and sees to it that its rows are vectors of unit length."""

    def __init__(self, function: Function, *, identity: str, dimensions: int, clock: Clock) -> None:
        self._function, self._identity, self._dimensions, self._clock = function, identity, dimensions, clock
        self._lock = asyncio.Lock()
        self._quick_calls, self._wanted = 0, 1

    @classmethod
    async def of(cls, function: Function, *, clock: Clock = time.perf_counter) -> Self:
        """Try the function on one sentence. Raises InvalidInput if it does not return one finite row for it."""
        try:
            rows = await asyncio.to_thread(_rows, function, [PROBE])
        except EmbedderUnavailable as error:
            raise InvalidInput(f"embedder={function!r}: {error}") from error
        digest = hashlib.sha256(np.round(rows[0], 2).astype(np.float32).tobytes()).hexdigest()[:12]
        return cls(function, identity=f"function/{rows.shape[1]}/{digest}", dimensions=rows.shape[1], clock=clock)

    @property
    def identity(self) -> str:
        return self._identity

    @property
    def dimensions(self) -> int:
        return self._dimensions

    async def embed(self, texts: Sequence[str]) -> Vectors:
        if not texts:
            return np.empty((0, self._dimensions), np.float32)
        async with self._lock:
            rows = await self._called(list(texts))
        if rows.shape[1] != self._dimensions:
            raise EmbedderUnavailable(
                f"the embedder function returned {rows.shape[1]} numbers a text; it gave {self._dimensions} before"
            )
        return rows

    async def _called(self, texts: list[str]) -> Vectors:
        """Call it on a thread, until it has shown to be quicker than the way there, as a look-up in a table is.

        A slow call sends it back to the thread. After a long one it has to show more of its quickness; a short delay
        may be the machine's.
        """
        here = self._quick_calls >= self._wanted and len(texts) <= FEW
        rows, took = self._timed(texts) if here else await asyncio.to_thread(self._timed, texts)
        if len(texts) <= FEW:
            self._quick_calls = self._quick_calls + 1 if took <= SLOW else 0
            self._wanted *= MORE if here and took > LONG else 1
        return rows

    def _timed(self, texts: list[str]) -> tuple[Vectors, float]:
        started = self._clock()
        return _rows(self._function, texts), self._clock() - started


def _rows(function: Function, texts: list[str]) -> Vectors:
    try:
        rows = np.asarray(function(texts), dtype=np.float32)
    except Exception as error:  # noqa: BLE001  the function is the caller's: whatever it raises, it has failed
        raise EmbedderUnavailable(f"the embedder function failed: {type(error).__name__}: {error}") from error
    if rows.ndim != 2 or rows.shape[0] != len(texts) or not rows.shape[1]:
        raise EmbedderUnavailable(f"the embedder function returned shape {rows.shape} for {len(texts)} texts")
    if len(rows) == 1:
        return _unit(rows)
    squares = np.einsum("ij,ij->i", rows, rows)  # a third of the time that np.linalg.norm takes
    if not (squares.min() > 0 and squares.max() < np.inf):  # written so that NaN fails it
        return _scaled(rows)
    unit: Vectors = rows / np.sqrt(squares)[:, np.newaxis]
    return unit


def _unit(row: Vectors) -> Vectors:
    """Return one row of unit length: most calls are of one text, and numbers of Python's take half the time."""
    square = float(np.dot(row[0], row[0]))
    if not 0 < square < math.inf:  # written so that NaN fails it
        return _scaled(row)
    unit: Vectors = row * np.float32(1 / math.sqrt(square))
    return unit


def _scaled(rows: Vectors) -> Vectors:
    """Return rows of unit length also where their squares are too large or too small to be counted."""
    largest = np.abs(rows).max(axis=1, keepdims=True)
    if not np.isfinite(largest).all() or not largest.all():
        raise EmbedderUnavailable("the embedder function returned a row of zeros, or one that is not finite")
    scaled = rows / largest
    unit: Vectors = scaled / np.linalg.norm(scaled, axis=1, keepdims=True)
    return unit
