"""An embedder that also shows its work: the vector of every word piece, out of the same pass as the text's own."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray


class Read(NamedTuple):
    """What a model makes of one text."""

    vector: NDArray[np.float32]
    """What `embed` would return for it: unit length."""
    words: Sequence[str]
    """For each token the whole word that it is a piece of, in lower case. Marks of the model's own are left out."""
    tokens: NDArray[np.float32]
    """One row per token: the last hidden state."""


@runtime_checkable
class TokenEmbedder(Protocol):
    async def read(self, texts: Sequence[str]) -> Sequence[Read]:
        """Return one reading per text, in order. Raises EmbedderUnavailable as `embed` does."""
        ...
