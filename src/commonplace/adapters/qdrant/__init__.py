"""VectorIndex on Qdrant: a server, or its client's own store in a folder or in memory.

Qdrant gives a collection no identity but its name, so each has a random part in its name: one that was dropped comes
back under another name. The size of vectors is fixed when a collection is made, and it may be made before any vector is
known: one of size 1 that holds nothing is made again.
"""

import asyncio
import ssl
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self, TypeVar
from uuid import uuid4

import numpy as np
from qdrant_client import AsyncQdrantClient, models
from qdrant_client.common.client_exceptions import QdrantException
from qdrant_client.http.exceptions import ApiException, UnexpectedResponse

from commonplace.domain.addresses import insist_on_header, is_server
from commonplace.domain.errors import IndexUnavailable, InvalidInput
from commonplace.ports.index import Near
from commonplace.ports.ledger import Vector

T = TypeVar("T")

BATCH = 256
"""Rows in one call."""
UNKNOWN = 1
"""The size of vectors, while it is not known."""
GRAPH = models.HnswConfigDiff(m=24, ef_construct=256)
"""As many are looked at when it searches as when it builds."""

NOT_FOUND = 404


class _Made(NamedTuple):
    name: str
    size: int


class QdrantIndex:
    def __init__(self, client: AsyncQdrantClient, *, where: str, prefix: str = "commonplace") -> None:
        """`prefix` begins the names of collections, for a server that others use too."""
        self._client, self._where, self._prefix = client, where, f"{prefix}."
        self._local = "://" not in where
        self._closed = False
        self._changing = asyncio.Lock()
        """Held to make and to empty: two calls at the same moment would make one collection twice."""
        self._names: dict[str, str] = {}
        self._size = UNKNOWN
        """Of the last vectors: a collection that is made gets room for such."""

    @classmethod
    def at(cls, place: str, *, key: str | None = None, ca_file: Path | None = None, timeout: float = 10.0) -> Self:
        """Open a server by its URL, or `:memory:`, or a folder, which one process may use."""
        if "://" not in place:
            local = (
                AsyncQdrantClient(location=place) if place == ":memory:" else AsyncQdrantClient(path=str(Path(place)))
            )
            return cls(local, where=place)
        if not is_server(place):  # not shown: it may hold a password
            raise InvalidInput(
                "qdrant_url: expected http://host:port or https://host:port, and a secret only as qdrant_key"
            )
        insist_on_header("qdrant_key", key)
        trusted: dict[str, Any] = {"verify": ssl.create_default_context(cafile=str(ca_file))} if ca_file else {}
        client = AsyncQdrantClient(url=place, api_key=key, timeout=round(timeout), check_compatibility=False, **trusted)
        return cls(client, where=place)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @property
    def name(self) -> str:
        return "qdrant"

    @property
    def owned(self) -> bool:
        return not self._closed

    def try_own(self) -> bool:
        return self.owned

    async def identity(self, collection: str) -> str:
        async def work() -> str:
            async with self._changing:
                return (await self._obtain(collection)).name

        return f"{self.name}:{await self._run(work)}"

    async def upsert(self, collection: str, vectors: Mapping[int, Vector], *, identity: str | None = None) -> None:
        async def work() -> None:
            numbers = list(vectors)
            async with self._changing:
                made = await self._obtain(collection)
                self._insist(identity, made)
                if numbers:
                    await self._fit(made, len(vectors[numbers[0]]), under_its_name=identity is None)
            for start in range(0, len(numbers), BATCH):
                some = numbers[start : start + BATCH]
                rows = np.stack([vectors[n] for n in some]).astype(np.float32).tolist()
                await self._client.upsert(made.name, points=models.Batch(ids=[*some], vectors=rows), wait=True)

        await self._run(work)

    async def remove(self, collection: str, numbers: Sequence[int]) -> None:
        async def work() -> None:
            made = await self._find(collection)
            if made is not None and numbers:
                await self._client.delete(made.name, points_selector=models.PointIdsList(points=[*numbers]), wait=True)

        await self._run(work)

    async def search(
        self, collection: str, vector: Vector, *, limit: int, identity: str | None = None
    ) -> Sequence[Near]:
        async def work() -> Sequence[Near]:
            made = await self._find(collection)
            self._insist(identity, made)
            if made is None or limit < 1 or made.size == UNKNOWN != len(vector):
                return []
            found = await self._client.query_points(
                made.name,
                query=np.asarray(vector, np.float32).tolist(),
                limit=limit,
                with_payload=False,
            )
            return [Near(int(str(point.id)), min(max((1 + point.score) / 2, 0.0), 1.0)) for point in found.points]

        return await self._run(work)

    async def numbers(self, collection: str) -> frozenset[int]:
        async def work() -> frozenset[int]:
            made, found = await self._find(collection), set[int]()
            after: models.ExtendedPointId | None = None
            while made is not None:
                points, after = await self._client.scroll(
                    made.name, limit=10_000, offset=after, with_payload=False, with_vectors=False
                )
                found.update(int(str(point.id)) for point in points)
                if after is None:
                    break
            return frozenset(found)

        return await self._run(work)

    async def collections(self) -> Mapping[str, int]:
        async def work() -> Mapping[str, int]:
            found = Counter[str]()
            for name in await self._ours():
                found[_plain(name, self._prefix)] += await self._count(name)
            return dict(found)

        return await self._run(work)

    async def drop(self, collection: str) -> None:
        async def work() -> None:
            for name in await self._all(collection):
                await self._client.delete_collection(name)

        self._names.pop(collection, None)
        await self._run(work)

    async def erase(self, *collections: str) -> int:
        """A dropped collection's files are removed by the server."""
        for collection in collections:
            await self.drop(collection)
        left = await self.collections()
        return sum(left.get(collection, 0) for collection in collections)

    async def close(self) -> None:
        if not self._closed:
            self._closed = True
            await self._client.close()

    async def _obtain(self, collection: str) -> _Made:
        """Find it, or make it. Of those that are made at the same moment the first by name stays."""
        found = await self._find(collection)
        if found is None:
            await self._make(f"{self._prefix}{collection}.{uuid4().hex}", self._size)
            for name in (await self._all(collection))[1:]:
                await self._client.delete_collection(name)
            found = await self._find(collection)
        if found is None:
            raise IndexUnavailable(f"{self._named()}: the collection is gone again")
        return found

    async def _find(self, collection: str) -> _Made | None:
        known = self._names.get(collection)
        found = await self._described(known) if known else None
        for name in () if found else await self._all(collection):
            found = found or await self._described(name)
        if found is None:
            self._names.pop(collection, None)
        else:
            self._names[collection] = found.name
        return found

    async def _described(self, name: str) -> _Made | None:
        if self._local and not await self._client.collection_exists(name):
            return None
        try:
            made = (await self._client.get_collection(name)).config.params.vectors
        except UnexpectedResponse as error:
            if error.status_code != NOT_FOUND:
                raise
            return None
        assert isinstance(made, models.VectorParams)
        return _Made(name, made.size)

    async def _all(self, collection: str) -> Sequence[str]:
        return [name for name in await self._ours() if _plain(name, self._prefix) == collection]

    async def _ours(self) -> Sequence[str]:
        every = (await self._client.get_collections()).collections
        return sorted(one.name for one in every if one.name.startswith(self._prefix))

    async def _fit(self, made: _Made, size: int, *, under_its_name: bool) -> None:
        """Let a collection that holds nothing take vectors of this size.

        One that is made again `under_its_name` could have been erased by somebody else in between, and would be back.
        """
        self._size = size
        if made.size != size and not await self._count(made.name):
            await self._client.delete_collection(made.name)
            if not under_its_name:
                raise IndexUnavailable(f"{self._named()}: the collection is made anew, for vectors of {size} numbers")
            await self._make(made.name, size)

    async def _make(self, name: str, size: int) -> None:
        shape = models.VectorParams(size=size, distance=models.Distance.COSINE)
        await self._client.create_collection(name, vectors_config=shape, hnsw_config=GRAPH)

    async def _count(self, name: str) -> int:
        """Return how many rows it holds: none, if it is gone by now."""
        try:
            return int((await self._client.count(name, exact=True)).count)
        except UnexpectedResponse as error:
            if error.status_code != NOT_FOUND:
                raise
            return 0

    async def _run(self, work: Callable[[], Awaitable[T]]) -> T:
        if self._closed:
            raise IndexUnavailable(f"{self._named()}: it is closed")
        try:
            return await work()
        except (ApiException, QdrantException, OSError, ValueError) as error:
            raise IndexUnavailable(f"{self._named()}: {type(error).__name__}") from error

    def _insist(self, identity: str | None, made: _Made | None) -> None:
        if identity is not None and (made is None or identity != f"{self.name}:{made.name}"):
            raise IndexUnavailable(f"{self._named()}: the collection is not the one that was fed")

    def _named(self) -> str:
        return f"{self.name} ({self._where})"


def _plain(name: str, prefix: str) -> str:
    """Return what the caller calls a collection."""
    return name.removeprefix(prefix).rpartition(".")[0]
