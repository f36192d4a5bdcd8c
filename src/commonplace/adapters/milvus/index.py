"""VectorIndex on Milvus: the async side. Its client blocks, so a few threads make the calls to it."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Self, TypeVar
from urllib.parse import urlsplit

import grpc
from pymilvus.exceptions import MilvusException

from commonplace.adapters.milvus.store import Store
from commonplace.domain.addresses import is_server
from commonplace.domain.errors import IndexUnavailable, InvalidInput
from commonplace.ports.index import Near
from commonplace.ports.ledger import Vector

T = TypeVar("T")

BATCH = 256
"""Rows in one call."""
THREADS = 16
"""Of which each waits for most of its time: a search that is sure to find what was written takes a server 0.2 s."""


class MilvusIndex:
    def __init__(
        self, url: str, *, token: str | None = None, ca_file: Path | None = None, timeout: float = 10.0
    ) -> None:
        if not is_server(url):
            raise InvalidInput(  # not shown: it may hold a password
                "milvus_url: expected http://host:port or https://host:port, and a secret only as milvus_token"
            )
        if ca_file is not None and not ca_file.is_file():
            raise InvalidInput(f"milvus_ca_file={str(ca_file)!r}: expected a file that is there")
        address = urlsplit(url)
        self._where = f"{address.scheme}://{address.netloc}"
        self._open = partial(
            Store, self._where, database=address.path.strip("/"), token=token, ca_file=ca_file, timeout=timeout
        )
        self._store: Store | None = None
        self._opening = Lock()
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="commonplace-milvus")
        self._closed = False

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @property
    def name(self) -> str:
        return "milvus"

    @property
    def owned(self) -> bool:
        return not self._closed

    def try_own(self) -> bool:
        return self.owned

    async def identity(self, collection: str) -> str:
        return f"{self.name}:{await self._run(lambda store: store.obtain(collection).name)}"

    async def upsert(self, collection: str, vectors: Mapping[int, Vector], *, identity: str | None = None) -> None:
        numbers, size = list(vectors), len(next(iter(vectors.values()), ()))
        name = await self._run(lambda store: store.prepare(collection, size, identity=self._known(identity)))
        for start in range(0, len(numbers), BATCH):
            rows = {n: vectors[n] for n in numbers[start : start + BATCH]}
            await self._run(lambda store, rows=rows: store.upsert(name, rows))  # type: ignore[misc]

    async def remove(self, collection: str, numbers: Sequence[int]) -> None:
        await self._run(lambda store: store.remove(collection, numbers))

    async def search(
        self, collection: str, vector: Vector, *, limit: int, identity: str | None = None
    ) -> Sequence[Near]:
        known = self._known(identity)
        return await self._run(lambda store: store.search(collection, vector, limit=limit, identity=known))

    async def numbers(self, collection: str) -> frozenset[int]:
        return await self._run(lambda store: store.numbers(collection))

    async def collections(self) -> Mapping[str, int]:
        return await self._run(lambda store: store.collections())

    async def drop(self, collection: str) -> None:
        await self._run(lambda store: store.drop(collection))

    async def erase(self, *collections: str) -> int:
        """The files of a dropped collection are removed by the server, in its own time."""
        for collection in collections:
            await self.drop(collection)
        left = await self.collections()
        return sum(left.get(collection, 0) for collection in collections)

    async def close(self) -> None:
        """Does not wait for a server that is silent: what is asked of it ends with its time."""
        if not self._closed:
            self._closed = True
            self._threads.submit(self._stop)
            self._threads.shutdown(wait=False)

    def _known(self, identity: str | None) -> str | None:
        return identity and identity.removeprefix(f"{self.name}:")

    async def _run(self, task: Callable[[Store], T]) -> T:
        if self._closed:
            raise IndexUnavailable(f"{self.name} ({self._where}): it is closed")
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._work, task)

    def _work(self, task: Callable[[Store], T]) -> T:
        try:
            with self._opening:
                store = self._store = self._store or self._open()
            return task(store)
        except (MilvusException, grpc.RpcError, OSError, ValueError) as error:
            if self._store is not None:
                self._store.distrust()
            said = error.message if isinstance(error, MilvusException) else type(error).__name__
            raise IndexUnavailable(f"{self.name} ({self._where}): {said}") from error

    def _stop(self) -> None:
        with self._opening:
            if self._store is not None:
                self._store.close()
