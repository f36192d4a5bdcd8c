"""The VectorIndex port in dictionaries, searched by brute force: what an approximate index is compared with."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from uuid import uuid4

import numpy as np

from commonplace.domain.errors import IndexUnavailable
from commonplace.ports.index import Near
from commonplace.ports.ledger import Vector


@dataclass(slots=True, eq=False)
class _Collection:
    identity: str = field(default_factory=lambda: f"inmemory:{uuid4().hex}")
    rows: dict[int, Vector] = field(default_factory=dict)


class InMemoryIndex:
    def __init__(self) -> None:
        self._collections: dict[str, _Collection] = {}
        self._closed = False

    @property
    def name(self) -> str:
        return "inmemory"

    @property
    def owned(self) -> bool:
        return not self._closed

    def try_own(self) -> bool:
        return self.owned

    async def identity(self, collection: str) -> str:
        return self._obtain(collection).identity

    async def upsert(self, collection: str, vectors: Mapping[int, Vector], *, identity: str | None = None) -> None:
        self._insist(collection, identity)
        self._obtain(collection).rows.update({n: np.array(vector, np.float32) for n, vector in vectors.items()})

    async def remove(self, collection: str, numbers: Sequence[int]) -> None:
        rows = self._rows(collection)
        for n in numbers:
            rows.pop(n, None)

    async def search(
        self, collection: str, vector: Vector, *, limit: int, identity: str | None = None
    ) -> Sequence[Near]:
        rows = self._rows(collection)
        self._insist(collection, identity)
        if not rows or limit < 1:
            return ()
        matrix = np.stack(list(rows.values()))
        lengths = np.linalg.norm(matrix, axis=1) * np.linalg.norm(vector)
        cosines = np.divide(matrix @ vector, lengths, out=np.zeros(len(rows), np.float32), where=lengths > 0)
        scores, numbers = np.clip((1 + cosines) / 2, 0, 1), np.array([*rows])
        nearest = np.lexsort((numbers, -scores))[:limit]
        return list(map(Near, numbers[nearest].tolist(), scores[nearest].tolist()))

    async def numbers(self, collection: str) -> frozenset[int]:
        return frozenset(self._rows(collection))

    async def collections(self) -> Mapping[str, int]:
        self._check()
        return {name: len(collection.rows) for name, collection in self._collections.items()}

    async def drop(self, collection: str) -> None:
        self._check()
        self._collections.pop(collection, None)

    async def erase(self, *collections: str) -> int:
        for collection in collections:
            await self.drop(collection)
        return 0

    async def close(self) -> None:
        self._closed = True
        self._collections.clear()

    def _insist(self, collection: str, identity: str | None) -> None:
        known = self._collections.get(collection)
        if identity is not None and (known is None or known.identity != identity):
            raise IndexUnavailable(f"the collection {collection} is not the one it was")

    def _obtain(self, collection: str) -> _Collection:
        self._check()
        return self._collections.setdefault(collection, _Collection())

    def _rows(self, collection: str) -> dict[int, Vector]:
        self._check()
        return self._collections.get(collection, _Collection()).rows

    def _check(self) -> None:
        if self._closed:
            raise IndexUnavailable("the index is closed")
