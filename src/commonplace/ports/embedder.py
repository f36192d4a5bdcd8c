"""From text to vectors. The model behind it has an identity, because vectors of two models never mix."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]


@runtime_checkable
class Embedder(Protocol):
    @property
    def identity(self) -> str:
        """Name, revision and precision of the model, e.g. `all-MiniLM-L6-v2/int8`. Stored with the vectors."""
        ...

    @property
    def dimensions(self) -> int: ...

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one row of unit length per text, in order; shape (0, dimensions) for no texts.

        The same text always gives the same row, alone or in any batch, up to rounding.
        Raises EmbedderUnavailable when the model cannot be had or fails; never a row of zeros or NaN.
        """
        ...
