"""The rows that indexes and caches are made of, and what has changed among them since a version."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from commonplace.domain.scope import Scope

Vector = NDArray[np.float32]


class Versions(NamedTuple):
    """Where a partition stands. A scope that holds nothing yet has number 0 and version 0."""

    number: int
    version: int
    """Raised by every write."""
    fact_version: int
    """Raised by every write that touches facts."""
    rows: int
    """How many index rows there are."""
    generation: int = 0
    """Whose vectors they have: raised for all partitions when another model's take their place."""
    model: str | None = None
    """The identity of the model whose vectors they have, where the user has one of its own."""


class MessageRow(NamedTuple):
    """One index row of a message: the whole of it, or a passage. Moments are microseconds since 1970 (UTC)."""

    n: int
    """Its number in the partition: never reused, rising in the order of writing."""
    first: int
    """The number of its message's first row."""
    id: str
    session: str | None
    role: str
    name: str | None
    agent: str | None
    at: int
    expires_at: int | None
    metadata: str | None
    """JSON, or None for no metadata."""
    start: int
    stop: int
    terms: bytes
    vector: bytes | None
    tokens: bytes | None = None


class FactRow(NamedTuple):
    """One index row of a fact: one version of it. A summary's row is one, too, of the kind `summary`."""

    n: int
    id: str
    version: int
    kind: str
    confidence: float
    importance: float
    said_at: int
    valid_from: int | None
    valid_to: int | None
    recorded_at: int
    retracted_at: int | None
    expires_at: int | None
    metadata: str | None
    sessions: str | None
    """JSON list of the sessions its messages belong to, or None."""
    terms: bytes
    vector: bytes | None
    tokens: bytes | None = None


class Feed(NamedTuple):
    """What changed in a partition, by row number. A row that is fed again replaces the one of its number."""

    versions: Versions
    messages: Sequence[MessageRow]
    facts: Sequence[FactRow]
    removed: Sequence[int]


class IndexFeed(Protocol):
    """The rows that indexes and caches are made of."""

    async def versions(self, scope: Scope) -> Versions: ...

    async def feed(self, scope: Scope, *, since: int = 0, vectors: bool = True) -> Feed:
        """Return every row stamped after version `since`, read at one moment. Without `vectors` they are None."""
        ...

    async def slab(self, scope: Scope, *, after: int, limit: int, vectors: bool = True) -> Feed:
        """Return the next `limit` rows, numbered after `after`, read at one moment: a partition piece by piece."""
        ...

    async def rows(self, scope: Scope, numbers: Sequence[int], *, vectors: bool = True) -> Feed:
        """Return these rows, read at one moment; those that are gone are left out."""
        ...

    async def vectors(self, scope: Scope, numbers: Sequence[int]) -> Mapping[int, bytes]:
        """Return the vectors of these rows; rows that are gone or have none are left out."""
        ...

    async def vectors_after(self, scope: Scope, *, after: int, limit: int) -> Mapping[int, bytes]:
        """Return the vectors of the next `limit` rows that have one, in the order of their numbers."""
        ...

    async def set_vectors(
        self,
        scope: Scope,
        vectors: Mapping[int, Vector],
        *,
        tokens: Mapping[int, bytes] | None = None,
        model: str | None = None,
    ) -> None:
        """Fill in, or replace, the vectors of rows, with their tokens where the embedder shows them.

        Nothing is written if they are of a `model` that is not in use.
        """
        ...

    async def scopes(self, tenant: str) -> Mapping[Scope, Versions]:
        """Return every user of a tenant that holds something, and where they stand."""
        ...

    async def delivered(self, scope: Scope, index: str) -> int:
        """Return the version up to which the index of that name has been fed; 0 at first."""
        ...

    async def set_delivered(self, scope: Scope, index: str, version: int) -> None: ...
