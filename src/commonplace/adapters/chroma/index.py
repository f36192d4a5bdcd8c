"""VectorIndex on chromadb. A row's number is its id; nothing else of it is given away: no text, no metadata."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, Self
from urllib.parse import urlsplit

import numpy as np

from commonplace.adapters.chroma.folder import Folder
from commonplace.adapters.chroma.worker import Worker
from commonplace.domain.errors import IndexUnavailable, InvalidInput
from commonplace.ports.index import Near
from commonplace.ports.ledger import Vector

if TYPE_CHECKING:
    from chromadb.api import ClientAPI
    from chromadb.api.models.Collection import Collection

BATCH = 256
"""Rows in one upsert: 0.7 ms each, where single ones take 11 (DESIGN: measured)."""
HNSW = {"space": "cosine", "ef_construction": 200, "ef_search": 200, "max_neighbors": 32}
"""Wide enough for recall above 0.95 of the ten nearest among 100,000."""


class Place(Protocol):
    """Where the collections are."""

    @property
    def identity(self) -> str: ...

    @property
    def owned(self) -> bool: ...

    def connect(self) -> "ClientAPI": ...

    def close(self) -> None: ...


class Embedded:
    """A folder of which this process may be the owner."""

    def __init__(self, path: Path) -> None:
        self._folder = Folder(path)

    @property
    def identity(self) -> str:
        return f"chroma:{self._folder.generation}"

    @property
    def owned(self) -> bool:
        return self._folder.own()

    def connect(self) -> "ClientAPI":
        import chromadb

        if self._folder.suspect:
            self._check()
        self._folder.begin()
        return chromadb.PersistentClient(str(self._folder.data), settings=_settings())

    def close(self) -> None:
        self._folder.close()

    def _check(self) -> None:
        """After an owner that was killed: a collection that cannot answer one query makes the folder start afresh."""
        import chromadb

        try:
            client = chromadb.PersistentClient(str(self._folder.data), settings=_settings())
            try:
                for collection in client.list_collections():
                    _probe(collection)
            finally:
                client.close()
        except Exception as error:  # noqa: BLE001  any failure at all means that it is damaged
            self._folder.empty(f"its last owner was killed, and {type(error).__name__}")


class InProcess:
    """A temporary folder: chromadb's own ephemeral clients share their collections within a process."""

    def __init__(self) -> None:
        from tempfile import TemporaryDirectory

        self._folder = TemporaryDirectory(prefix="commonplace-", ignore_cleanup_errors=True)

    @property
    def identity(self) -> str:
        return f"chroma:{self._folder.name}"

    @property
    def owned(self) -> bool:
        return True

    def connect(self) -> "ClientAPI":
        import chromadb

        return chromadb.PersistentClient(self._folder.name, settings=_settings())

    def close(self) -> None:
        self._folder.cleanup()


class Server:
    """A Chroma server. Many processes may use it."""

    def __init__(self, url: str, *, token: str | None = None) -> None:
        self._url, self._token = urlsplit(url), token
        if self._url.scheme not in ("http", "https") or not self._url.hostname:
            raise InvalidInput(f"chroma_url={url!r}: expected http://host:port or https://host:port")

    @property
    def identity(self) -> str:
        return f"chroma:{self._url.netloc.rpartition('@')[2]}"

    @property
    def owned(self) -> bool:
        return True

    def connect(self) -> "ClientAPI":
        import chromadb

        secure = self._url.scheme == "https"
        return chromadb.HttpClient(
            host=self._url.hostname or "",
            port=self._url.port or (443 if secure else 8000),
            ssl=secure,
            headers={"Authorization": f"Bearer {self._token}"} if self._token else None,
            settings=_settings(),
        )

    def close(self) -> None:
        return None


class ChromaIndex:
    """Use it as `async with`. chromadb is imported, and the folder opened, when it is first needed."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._worker = Worker()
        self._client: ClientAPI | None = None
        self._open: dict[str, Collection] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @property
    def name(self) -> str:
        return "chroma"

    async def identity(self, collection: str) -> str:
        return f"{self._place.identity}:{(await self._worker.run(lambda: self._collection(collection, create=True))).id}"

    @property
    def owned(self) -> bool:
        return self._place.owned

    def try_own(self) -> bool:
        return self._place.owned

    async def upsert(self, collection: str, vectors: Mapping[int, Vector]) -> None:
        def work() -> None:
            held = self._collection(collection, create=True)
            assert held is not None
            for batch in _batches(vectors):
                held.upsert(ids=[str(n) for n in batch], embeddings=[vectors[n] for n in batch])

        if vectors:
            await self._worker.run(work)

    async def remove(self, collection: str, numbers: Sequence[int]) -> None:
        def work() -> None:
            held = self._collection(collection)
            if held is not None:
                for batch in _batches(numbers):
                    held.delete(ids=[str(n) for n in batch])

        if numbers:
            await self._worker.run(work)

    async def search(self, collection: str, vector: Vector, *, limit: int) -> Sequence[Near]:
        def work() -> Sequence[Near]:
            held = self._collection(collection)
            rows = min(limit, held.count()) if held is not None else 0
            if held is None or not rows:
                return ()
            found = held.query(query_embeddings=[vector], n_results=rows, include=["distances"])
            assert found["distances"] is not None
            near = zip(found["ids"][0], found["distances"][0], strict=True)
            return [Near(int(id_), float(np.clip(1 - distance / 2, 0, 1))) for id_, distance in near]

        return await self._worker.run(work)

    async def numbers(self, collection: str) -> frozenset[int]:
        def work() -> frozenset[int]:
            held = self._collection(collection)
            return frozenset(map(int, held.get(include=[])["ids"])) if held is not None else frozenset()

        return await self._worker.run(work)

    async def collections(self) -> Mapping[str, int]:
        return await self._worker.run(
            lambda: {each.name: each.count() for each in self._connected().list_collections()}
        )

    async def drop(self, collection: str) -> None:
        def work() -> None:
            if self._collection(collection) is not None:
                self._connected().delete_collection(collection)
                self._open.pop(collection, None)

        await self._worker.run(work)

    async def close(self) -> None:
        def work() -> None:
            if self._client is not None:
                self._client.close()
                self._client = None
            self._place.close()

        await self._worker.run(work)
        await self._worker.stop()

    def _connected(self) -> "ClientAPI":
        if not self._place.owned:
            raise IndexUnavailable("chroma: another process owns the folder")
        if self._client is None:
            self._client = self._place.connect()
        return self._client

    def _collection(self, name: str, *, create: bool = False) -> "Collection | None":
        client = self._connected()
        if name not in self._open:
            from chromadb.errors import NotFoundError

            try:
                self._open[name] = client.get_collection(name, embedding_function=None)
            except NotFoundError:
                if not create:
                    return None
                self._open[name] = client.create_collection(
                    name, embedding_function=None, configuration={"hnsw": HNSW}, get_or_create=True
                )
        return self._open[name]


def _settings() -> "object":
    from chromadb.config import Settings

    return Settings(anonymized_telemetry=False)


def _probe(collection: "Collection") -> None:
    some = collection.peek(1)["embeddings"]
    if some is not None and len(some):
        collection.query(query_embeddings=[some[0]], n_results=1)


def _batches(numbers: Mapping[int, Vector] | Sequence[int]) -> Iterator[list[int]]:
    left = iter(numbers)
    while batch := list(islice(left, BATCH)):
        yield batch
