"""What Commonplace is compared with: raw Chroma in its usual forms, and the least that each job can cost.

Chroma is used as its documentation shows: a persistent client, cosine distance, text and metadata beside the vector.
"""

import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path

import chromadb
import numpy as np
from chromadb.api import ClientAPI
from chromadb.api.models.Collection import Collection
from chromadb.config import Settings

from bench.material import Vectors

BATCH = 5_000
"""Chroma takes at most 5,461 at a time."""
TOP = 10


def chroma(folder: Path) -> ClientAPI:
    folder.mkdir(parents=True, exist_ok=True)
    return chromadb.PersistentClient(str(folder), settings=Settings(anonymized_telemetry=False))


class Chroma:
    """One collection of items, known by their numbers."""

    def __init__(self, client: ClientAPI, name: str) -> None:
        self._collection: Collection = client.create_collection(
            name, configuration={"hnsw": {"space": "cosine"}}, embedding_function=None
        )

    def add(self, number: int, vector: Vectors, text: str, metadata: Mapping[str, int]) -> None:
        self._collection.add(
            ids=[str(number)], embeddings=vector[np.newaxis], documents=[text], metadatas=[dict(metadata)]
        )

    def load(
        self, numbers: Sequence[int], vectors: Vectors, texts: Sequence[str], metadata: Sequence[Mapping[str, int]]
    ) -> None:
        for start in range(0, len(numbers), BATCH):
            part = slice(start, start + BATCH)
            self._collection.add(
                ids=[str(number) for number in numbers[part]],
                embeddings=vectors[part],
                documents=list(texts[part]),
                metadatas=[dict(one) for one in metadata[part]],
            )

    def search(self, vector: Vectors, *, where: Mapping[str, int] | None = None) -> list[int]:
        found = self._collection.query(
            query_embeddings=vector[np.newaxis], n_results=TOP, where=dict(where) if where else None
        )
        return [int(number) for number in found["ids"][0]]


class Floor:
    """A matrix in RAM and nothing else: what a search of it costs at the least."""

    def __init__(self, numbers: Sequence[int], vectors: Vectors) -> None:
        self._numbers = np.asarray(numbers)
        self._vectors = np.ascontiguousarray(vectors)

    def search(self, vector: Vectors) -> list[int]:
        scores = self._vectors @ vector
        best = np.argpartition(-scores, TOP)[:TOP] if len(scores) > TOP else np.arange(len(scores))
        found: list[int] = self._numbers[best[np.argsort(-scores[best])]].tolist()
        return found


class PlainTable:
    """Row and vector in one transaction of SQLite, waiting for the disk: what a durable write costs at the least."""

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None)
        self._connection.execute("pragma journal_mode = wal")
        self._connection.execute("pragma synchronous = full")
        self._connection.execute("create table items (no integer primary key, user text, text text, vector blob)")

    def add(self, number: int, vector: Vectors | None, text: str) -> None:
        blob = None if vector is None else vector.tobytes()
        self._connection.execute("insert into items values (?, ?, ?, ?)", (number, "ana", text, blob))

    def close(self) -> None:
        self._connection.close()
