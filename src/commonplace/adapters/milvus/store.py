"""Milvus in plain blocking calls, for several threads. A row's number is its key; it is given no text.

A collection has a random part in its name, which is its identity: one that was dropped comes back under another name.
The size of vectors is fixed when it is made, which may be before any vector is known: one that holds nothing is made
again. What is read is read at the consistency `Strong`: what one process has written, another one finds.
"""

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from threading import RLock
from typing import Any, NamedTuple
from uuid import uuid4

import numpy as np
from pymilvus import DataType, MilvusClient
from pymilvus.exceptions import ErrorCode, MilvusException

from commonplace.domain.errors import IndexUnavailable
from commonplace.ports.apart import apart
from commonplace.ports.index import Near
from commonplace.ports.ledger import Vector

PREFIX = "commonplace_"
PAGE, MOST = 10_000, 16_384
"""Keys in one call; rows in an answer, of which a server gives no more."""
UNKNOWN = 2
"""The size of vectors, while it is not known: the smallest that there is."""
GRAPH = {"M": 24, "efConstruction": 256}
LOOKED_AT = 256
"""Rows that a search looks at, at least."""
OPTIONS = {"grpc.use_local_subchannel_pool": 1, "grpc.keepalive_permit_without_calls": 0}
"""Else a new connection would wait for as long as the one before it had meant to, and a server that takes no pings of
the idle (milvus-lite) would end the connection, and with it a call that has just been made."""

logging.getLogger("pymilvus").setLevel(logging.CRITICAL)  # else 60 lines on the terminal for each call that fails


class Made(NamedTuple):
    name: str
    size: int


class Store:
    def __init__(self, url: str, *, database: str, token: str | None, ca_file: Path | None, timeout: float) -> None:
        self._client = MilvusClient(
            url,
            db_name=database,
            token=token or "",
            server_pem_path=str(ca_file or ""),
            timeout=timeout,
            grpc_options=OPTIONS,
            dedicated=True,
        )
        self._bounded: Mapping[str, Any] = {"timeout": timeout}
        self._strong = {"consistency_level": "Strong", **self._bounded}
        self._own = {"consistency_level": "Session", **self._bounded}
        """A process counts what it has written itself, and waits for no other."""
        self._changing = RLock()
        """Held to make, drop and load: two threads would make one twice, and milvus-lite fails where both drop it."""
        self._names: dict[str, str] = {}
        self._loaded: set[str] = set()
        self._size = UNKNOWN
        """Of the last vectors: a collection that is made gets room for such."""

    def obtain(self, collection: str) -> Made:
        """Find it, or make it. Of those that are made at the same moment the first by name stays."""
        with self._changing:
            found = self._find(collection)
            if found is None:
                self._make(f"{PREFIX}{collection.replace('-', '_')}_{uuid4().hex}", self._size)
                for name in self._all(collection)[1:]:
                    self._client.drop_collection(name, **self._bounded)
                found = self._find(collection)
        if found is None:
            raise _replaced()
        return found

    def prepare(self, collection: str, size: int, *, identity: str | None = None) -> str:
        """Return the name of a collection that takes vectors of this size; 0 stands for no vector."""
        with self._changing:
            made = self.obtain(collection)
            _insist(identity, made)
            if size:
                self._fit(made, size, under_its_name=identity is None)
                self._load(made.name)
        return made.name

    def upsert(self, name: str, vectors: Mapping[int, Vector]) -> None:
        rows = apart([*vectors], np.stack([*vectors.values()]))
        self._client.upsert(
            name, [{"id": n, "vector": row} for n, row in zip(vectors, rows, strict=True)], **self._bounded
        )

    def remove(self, collection: str, numbers: Sequence[int]) -> None:
        made = self._find(collection)
        for start in range(0, len(numbers) if made else 0, PAGE):
            assert made is not None
            self._client.delete(made.name, ids=[*numbers[start : start + PAGE]], **self._bounded)

    def search(self, collection: str, vector: Vector, *, limit: int, identity: str | None = None) -> Sequence[Near]:
        made = self._find(collection)
        _insist(identity, made)
        if made is None or limit < 1 or made.size == UNKNOWN != len(vector):
            return []
        self._load(made.name)
        limit = min(limit, MOST)
        (found,) = self._client.search(
            made.name,
            [np.asarray(vector, np.float32)],
            limit=limit,
            output_fields=["id"],
            search_params={"params": {"ef": max(limit, LOOKED_AT)}},
            **self._strong,
        )
        return [Near(int(row["id"]), min(max((1 + row["distance"]) / 2, 0.0), 1.0)) for row in found]

    def numbers(self, collection: str) -> frozenset[int]:
        made, found = self._find(collection), set[int]()
        if made is not None:
            self._load(made.name)
            pages = self._client.query_iterator(made.name, batch_size=PAGE, output_fields=["id"], **self._strong)
            while page := pages.next():
                found.update(int(row["id"]) for row in page)
            pages.close()
        return frozenset(found)

    def collections(self) -> Mapping[str, int]:
        found = Counter[str]()
        for name in self._ours():
            found[_plain(name)] += self._count(name)
        return dict(found)

    def drop(self, collection: str) -> None:
        with self._changing:
            self._names.pop(collection, None)
            for name in self._all(collection):
                self._client.drop_collection(name, **self._bounded)

    def distrust(self) -> None:
        """Look again whether a collection is loaded: somebody may have let go of it."""
        self._loaded.clear()

    def close(self) -> None:
        self._client.close()

    def _find(self, collection: str) -> Made | None:
        known = self._names.get(collection)
        found = self._described(known) if known else None
        if found is None:
            found = next((made for name in self._all(collection) if (made := self._described(name))), None)
        if found is None:
            self._names.pop(collection, None)
        else:
            self._names[collection] = found.name
        return found

    def _described(self, name: str) -> Made | None:
        try:
            fields = self._client.describe_collection(name, **self._bounded)["fields"]
        except MilvusException as error:
            if error.code != ErrorCode.COLLECTION_NOT_FOUND:
                raise
            return None
        return Made(name, next(int(field["params"]["dim"]) for field in fields if field["name"] == "vector"))

    def _all(self, collection: str) -> Sequence[str]:
        return [name for name in self._ours() if _plain(name) == collection]

    def _ours(self) -> Sequence[str]:
        return sorted(name for name in self._client.list_collections(**self._bounded) if name.startswith(PREFIX))

    def _fit(self, made: Made, size: int, *, under_its_name: bool) -> None:
        """Let a collection that holds nothing take vectors of this size.

        One that is made again `under_its_name` could have been erased by somebody else in between, and would be back.
        """
        self._size = size
        if made.size != size and not self._count(made.name):
            self._client.drop_collection(made.name, **self._bounded)
            self._loaded.discard(made.name)
            if not under_its_name:
                raise IndexUnavailable(f"milvus: the collection is made anew, for vectors of {size} numbers")
            self._make(made.name, size)

    def _make(self, name: str, size: int) -> None:
        schema = self._client.create_schema(auto_id=False, enable_dynamic_field=False)
        schema.add_field("id", DataType.INT64, is_primary=True)
        schema.add_field("vector", DataType.FLOAT_VECTOR, dim=size)
        self._client.create_collection(name, schema=schema, **self._strong)

    def _load(self, name: str) -> None:
        """Let it be searched. That takes a server seconds, for which nobody waits who only asks for an identity."""
        if name in self._loaded:
            return
        with self._changing:
            if not self._has_graph(name):
                self._plan_graph(name)
            self._client.load_collection(name, **self._bounded)
            self._loaded.add(name)

    def _has_graph(self, name: str) -> bool:
        return bool(self._client.list_indexes(name, **self._bounded))

    def _plan_graph(self, name: str) -> None:
        graph = self._client.prepare_index_params()
        graph.add_index("vector", index_type="HNSW", metric_type="COSINE", params=GRAPH)
        try:
            self._client.create_index(name, graph, sync=False, **self._bounded)
        except MilvusException:
            if not self._has_graph(name):  # another process was quicker
                raise

    def _count(self, name: str) -> int:
        """Return how many rows it holds: none, if it is gone by now."""
        try:
            self._load(name)
            (row,) = self._client.query(name, output_fields=["count(*)"], **self._own)
        except MilvusException as error:
            if error.code != ErrorCode.COLLECTION_NOT_FOUND:
                raise
            return 0
        return int(row["count(*)"])


def _insist(identity: str | None, made: Made | None) -> None:
    if identity is not None and (made is None or made.name != identity):
        raise _replaced()


def _replaced() -> IndexUnavailable:
    return IndexUnavailable("milvus: the collection is not the one that was fed")


def _plain(name: str) -> str:
    """Return what the caller calls a collection: that has no `_`, and a name of Milvus no `-`."""
    return name.removeprefix(PREFIX).rpartition("_")[0].replace("_", "-")
