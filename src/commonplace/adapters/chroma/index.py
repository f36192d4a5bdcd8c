"""VectorIndex on Chroma: the async side. chromadb blocks, so one thread of its own makes all calls to it."""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Self, TypeVar
from urllib.parse import SplitResult, urlsplit

from commonplace.adapters.chroma.ownership import Ownership
from commonplace.domain.addresses import insist_on_header, is_server
from commonplace.domain.errors import IndexUnavailable, InvalidInput
from commonplace.ports.index import Near
from commonplace.ports.ledger import Vector

if TYPE_CHECKING:
    from commonplace.adapters.chroma.store import Store

T = TypeVar("T")

BATCH = 256
"""Rows in one call: more would hardly be quicker, and a search would have to wait for them."""


@dataclass(frozen=True, slots=True)
class Embedded:
    """A folder of its own, used by one process at a time: the one that holds the lock beside it."""

    path: Path

    def __str__(self) -> str:
        return str(self.path)


@dataclass(frozen=True, slots=True)
class InProcess:
    """The memory of this process, shared with no other index in it."""

    def __str__(self) -> str:
        return "in memory"


@dataclass(frozen=True, slots=True)
class Server:
    """A Chroma server, for any number of processes."""

    url: str
    token: str | None = field(default=None, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    ca_file: Path | None = None
    """Who vouches for the server of an `https://` address. None: those whom the system trusts."""
    timeout: float = 10.0
    """Seconds to wait for it to connect, and for each part of its answer."""

    def __post_init__(self) -> None:
        if not is_server(self.url) or self.address.path not in ("", "/"):  # not shown: it may hold a password
            raise InvalidInput(
                "chroma_url: expected http://host:port or https://host:port, and a secret only as chroma_token"
            )
        insist_on_header("chroma_token", self.token)
        if self.ca_file is not None and not self.ca_file.is_file():
            raise InvalidInput(f"chroma_ca_file={str(self.ca_file)!r}: expected a file that is there")

    @property
    def address(self) -> SplitResult:
        return urlsplit(self.url)

    def __str__(self) -> str:
        return f"{self.address.scheme}://{self.address.netloc}"


Place = Embedded | InProcess | Server


class ChromaIndex:
    def __init__(self, place: Place, *, prefix: str | None = None) -> None:
        """`prefix` begins the names of collections, for a server that others use too."""
        self._place = place
        self._prefix = f"{prefix}." if prefix else ""
        self._ownership = Ownership(lock_of(place.path)) if isinstance(place, Embedded) else None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="commonplace-chroma")
        self._store: Store | None = None
        self._closed = False
        self.try_own()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @property
    def name(self) -> str:
        return "chroma"

    @property
    def owned(self) -> bool:
        return not self._closed and (self._ownership is None or self._ownership.held)

    def try_own(self) -> bool:
        return not self._closed and (self._ownership is None or self._ownership.take())

    async def identity(self, collection: str) -> str:
        return f"{self.name}:{await self._run(lambda store: store.identity(self._prefix + collection))}"

    async def upsert(self, collection: str, vectors: Mapping[int, Vector], *, identity: str | None = None) -> None:
        name, known = self._prefix + collection, self._known(identity)
        for batch in _batches(vectors):
            part = {n: vectors[n] for n in batch}
            await self._run(lambda store, part=part: store.upsert(name, part, identity=known))  # type: ignore[misc]

    async def remove(self, collection: str, numbers: Sequence[int]) -> None:
        for batch in _batches(numbers):
            await self._run(lambda store, batch=batch: store.remove(self._prefix + collection, batch))  # type: ignore[misc]

    async def search(
        self, collection: str, vector: Vector, *, limit: int, identity: str | None = None
    ) -> Sequence[Near]:
        name, known = self._prefix + collection, self._known(identity)
        return await self._run(lambda store: store.search(name, vector, limit=limit, identity=known))

    async def numbers(self, collection: str) -> frozenset[int]:
        return await self._run(lambda store: store.numbers(self._prefix + collection))

    async def collections(self) -> Mapping[str, int]:
        found = await self._run(lambda store: store.collections(self._prefix))
        return {name.removeprefix(self._prefix): rows for name, rows in found.items()}

    async def drop(self, collection: str) -> None:
        await self._run(lambda store: store.drop(self._prefix + collection))

    async def erase(self, *collections: str) -> int:
        if isinstance(self._place, Embedded) and not self._place.path.exists():
            return 0
        # Under a prefix that they had before, too.
        return await self._run(
            lambda store: store.erase(*(name for collection in collections for name in store.named(collection)))
        )

    async def close(self) -> None:
        """Finish the call under way, then let go of the files and of the lock."""
        if not self._closed:
            self._closed = True
            await asyncio.get_running_loop().run_in_executor(self._thread, self._stop)
            self._thread.shutdown(wait=False)

    def _known(self, identity: str | None) -> str | None:
        return identity and identity.removeprefix(f"{self.name}:")

    async def _run(self, task: "Callable[[Store], T]") -> T:
        if not self.owned:
            why = "it is closed" if self._closed or self._ownership is None else self._ownership.refusal
            raise IndexUnavailable(f"chroma ({self._place}): {why}")
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._work, task)

    def _work(self, task: "Callable[[Store], T]") -> T:
        try:
            return task(self._present())
        except IndexUnavailable:
            raise
        except BaseException as error:
            # BaseException, because a panic of Chroma's Rust code is not an Exception.
            raise IndexUnavailable(f"chroma ({self._place}): {type(error).__name__}: {error}") from error

    def _present(self) -> "Store":
        if self._store is None:
            self._store = self._open()
        elif self._store.lost:
            self._stop_store()
            raise IndexUnavailable(f"chroma ({self._place}): its files were removed, and are made anew")
        return self._store

    def _open(self) -> "Store":
        # The one import that is not at the top: `auto` configures an index for every memory, and most never need it.
        from commonplace.adapters.chroma.folder import FolderStore
        from commonplace.adapters.chroma.store import EMBEDDED, HTTP, Store

        match self._place:
            case Embedded(path=path):
                assert self._ownership is not None
                return FolderStore(path, self._ownership)
            case InProcess():
                return Store(EMBEDDED)
            case Server(address=address, token=token, headers=headers, ca_file=ca_file, timeout=timeout):
                secure = address.scheme == "https"
                authorization = {"Authorization": f"Bearer {token}"} if token else {}
                server = {
                    "chroma_server_host": address.hostname,
                    "chroma_server_http_port": address.port or (443 if secure else 8000),
                    "chroma_server_ssl_enabled": secure,
                    "chroma_server_headers": {**headers, **authorization},
                }
                return Store({**HTTP, **server}, timeout=timeout, ca_file=ca_file)

    def _stop(self) -> None:
        self._stop_store()
        if self._ownership is not None:
            self._ownership.release()

    def _stop_store(self) -> None:
        if self._store is not None:
            self._store.close()
            self._store = None


def lock_of(folder: Path) -> Path:
    """The lock is beside the folder, so that it outlives it."""
    return folder.with_name(folder.name + ".lock")


def _batches(numbers: Mapping[int, Vector] | Sequence[int]) -> Iterator[list[int]]:
    left = iter(numbers)
    while batch := list(islice(left, BATCH)):
        yield batch
