"""A vector index: a projection of the ledger that finds the nearest rows of a large partition quickly.

It may be behind and it may be approximate; it is never asked whether something exists.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from commonplace.ports.ledger import Vector


class Near(NamedTuple):
    n: int
    """The row's number in its partition."""
    score: float
    """0..1, higher is closer: (1 + cosine) / 2."""


class VectorIndex(Protocol):
    """Collections are named by the caller, one per partition: `[a-z0-9-]`, 3 to 60 characters.

    When an index finds that a collection is not the one it knew, the call that finds it raises IndexUnavailable.
    """

    @property
    def name(self) -> str:
        """What `stats` calls it, e.g. `chroma`."""
        ...

    @property
    def owned(self) -> bool:
        """Whether this process may use it. If not, every other method raises IndexUnavailable."""
        ...

    def try_own(self) -> bool:
        """Become the owner if nobody else is, at once and without waiting. Returns `owned`."""
        ...

    async def identity(self, collection: str) -> str:
        """Return what the ledger's `delivered` is keyed by: the name of the index and of this very collection.

        Creates the collection if it is not there. One that was dropped, lost or found damaged comes back under another
        identity, for which nothing is delivered yet: so what has to be fed again is known without keeping count.
        """
        ...

    async def upsert(self, collection: str, vectors: Mapping[int, Vector], *, identity: str | None = None) -> None:
        """Insert or replace rows; creates the collection. Doing it twice changes nothing.

        With an `identity`, raises IndexUnavailable unless the collection is still that one, and then no row of these
        is in another: what was read for one that was erased since never reaches the one that took its place.
        """
        ...

    async def remove(self, collection: str, numbers: Sequence[int]) -> None:
        """Remove rows; those that are not there are no error, nor is a collection that is not."""
        ...

    async def search(
        self, collection: str, vector: Vector, *, limit: int, identity: str | None = None
    ) -> Sequence[Near]:
        """Return up to `limit` nearest rows, the nearest first; empty for a collection that is not there.

        With an `identity`, raises IndexUnavailable unless the collection is still that one: what the ledger says was
        delivered to it says nothing about another.
        """
        ...

    async def numbers(self, collection: str) -> frozenset[int]:
        """Return the numbers of all rows it holds."""
        ...

    async def collections(self) -> Mapping[str, int]:
        """Return every collection with its number of rows."""
        ...

    async def drop(self, collection: str) -> None:
        """Remove a collection; no error when it is not there."""
        ...

    async def erase(self, *collections: str) -> int:
        """Remove collections, and every byte of their rows from the files, as far as they are the index's own.

        Others stay. Returns how many of their rows can still be found: 0, unless something is wrong.
        """
        ...

    async def close(self) -> None: ...


class IndexState(Protocol):
    """How the index is doing, as seen by this process."""

    async def state(self) -> str:
        """Return `ok`, or what is wrong, soon. One that was never needed is not asked."""
        ...

    def figures(self) -> Mapping[str, int]:
        """Return what it did so far, by name: `up` is 1 or 0."""
        ...

    async def look(self) -> Mapping[str, int]:
        """Ask a server what it holds; one that is not on a server is not asked. Raises IndexUnavailable."""
        ...
