"""Candidates by words, from the engine's own full text: a ledger may offer it, and search can do without."""

from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable

from commonplace.domain.scope import Scope


@runtime_checkable
class FullText(Protocol):
    """What a ledger may offer besides: candidates by words, for users whose rows do not fit in memory."""

    async def build_full_text(self, scope: Scope) -> None:
        """Keep this user's rows, those there are and those to come, in the engine's full text. Twice is once."""
        ...

    async def matching(self, scope: Scope, terms: Sequence[int], *, limit: int) -> Sequence[int]:
        """Return the numbers of rows that have any of these terms, the best first by the engine's own BM25.

        Terms are the hashes that entries were packed from. Raises InvalidInput for a user whose full text is not built.
        """
        ...

    async def holding(self, scope: Scope, terms: Sequence[int]) -> Mapping[int, int]:
        """Return how many of this user's rows have each of these terms. Raises InvalidInput as `matching` does."""
        ...
