"""A plain function `list[str] -> (n, d) array` as an Embedder.

A function has no name that means anything in another process, so its identity is what it does: the digest of the vector
it gives to one fixed sentence.
"""

import asyncio
import hashlib
from collections.abc import Callable, Sequence
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from commonplace.domain.errors import EmbedderUnavailable, InvalidInput
from commonplace.ports.embedder import Vectors

PROBE = "A commonplace book keeps what is worth remembering."

Function = Callable[[list[str]], ArrayLike]


class FunctionEmbedder:
    """Runs the function in a thread, one call at a time, and sees to it that its rows are vectors of unit length."""

    def __init__(self, function: Function, *, identity: str, dimensions: int) -> None:
        self._function, self._identity, self._dimensions = function, identity, dimensions
        self._lock = asyncio.Lock()

    @classmethod
    async def of(cls, function: Function) -> Self:
        """Try the function on one sentence. Raises InvalidInput if it does not return one finite row for it."""
        try:
            rows = await asyncio.to_thread(_rows, function, [PROBE])
        except EmbedderUnavailable as error:
            raise InvalidInput(f"embedder={function!r}: {error}") from error
        digest = hashlib.sha256(np.round(rows[0], 2).astype(np.float32).tobytes()).hexdigest()[:12]
        return cls(function, identity=f"function/{rows.shape[1]}/{digest}", dimensions=rows.shape[1])

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
            rows = await asyncio.to_thread(_rows, self._function, list(texts))
        if rows.shape[1] != self._dimensions:
            raise EmbedderUnavailable(
                f"the embedder function returned {rows.shape[1]} numbers a text; it gave {self._dimensions} before"
            )
        return rows


def _rows(function: Function, texts: list[str]) -> Vectors:
    try:
        rows = np.asarray(function(texts), dtype=np.float32)
    except Exception as error:  # noqa: BLE001  the function is the caller's: whatever it raises, it has failed
        raise EmbedderUnavailable(f"the embedder function failed: {type(error).__name__}: {error}") from error
    if rows.ndim != 2 or rows.shape[0] != len(texts) or not rows.shape[1]:
        raise EmbedderUnavailable(f"the embedder function returned shape {rows.shape} for {len(texts)} texts")
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    if not np.isfinite(lengths).all() or not lengths.all():
        raise EmbedderUnavailable("the embedder function returned a row of zeros, or one that is not finite")
    unit: Vectors = rows / lengths
    return unit
