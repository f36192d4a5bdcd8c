"""A second opinion on the order of the best few: a model that reads the question and a text together.

It says which of two texts answers better, not whether either does: what is relevant enough is calibrated elsewhere.
"""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable


@runtime_checkable
class Reranker(Protocol):
    @property
    def name(self) -> str:
        """What is shown where it has failed."""
        ...

    async def score(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """Return one score per text, in order: 0..1, higher answers better; nothing for no texts.

        Raises RerankerUnavailable when the model cannot be had, fails, takes too long or answers in another shape.
        """
        ...
