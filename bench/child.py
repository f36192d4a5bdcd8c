"""What is measured in a process of its own: the first recall after the start, and the RAM that a full store takes.

It imports nothing heavy at the top, because importing is part of what is measured.
"""

import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bench.material import Vectors


def first_recall(folder: str, dimensions: str) -> dict[str, float]:
    from commonplace import Memory

    with Memory.open(folder, embedder=_embedder(int(dimensions)), index="exact") as memory:
        return {"found": len(memory.recall("What was it about bakan and bela?", user="0", min_relevance=0))}


def first_embedding() -> dict[str, float]:
    import asyncio

    from commonplace.settings import Settings
    from commonplace.wiring import open_embedder

    async def embed() -> int:
        async with open_embedder(Settings.from_sources(), None) as embedder:
            return len(await embedder.embed(["What was it about the garden?"]))

    return {"found": asyncio.run(embed())}


def ram_of_ours(folder: str, dimensions: str, users: str, tokens: str) -> dict[str, float]:
    from bench.material import Material, Reader
    from commonplace import Memory

    material = Material(items=1, dimensions=int(dimensions))
    embedder = Reader(material) if tokens == str(True) else material.embed
    with Memory.open(folder, embedder=embedder, index="exact", cache_bytes=2**34) as memory:
        memory.recall("anything", user="nobody")
        before = _rss()
        for user in range(int(users)):
            memory.recall("anything", user=str(user))
        return {"before": before, "after": _rss()}


def ram_of_chroma(folder: str, dimensions: str) -> dict[str, float]:
    import chromadb
    from chromadb.config import Settings

    from bench.material import vector_of

    client = chromadb.PersistentClient(folder, settings=Settings(anonymized_telemetry=False))
    collection = client.get_collection("all", embedding_function=None)
    before = _rss()
    for number in range(5):
        collection.query(query_embeddings=vector_of(str(number), int(dimensions))[None], n_results=10)
    return {"before": before, "after": _rss()}


def _embedder(dimensions: int) -> "Callable[[list[str]], Vectors]":
    import numpy as np

    from bench.material import vector_of

    return lambda texts: np.stack([vector_of(text, dimensions) for text in texts])


def _rss() -> float:
    import psutil

    return float(psutil.Process().memory_info().rss)


TASKS: Mapping[str, Callable[..., dict[str, float]]] = {
    task.__name__: task for task in (first_recall, first_embedding, ram_of_ours, ram_of_chroma)
}
ROOT = Path(__file__).parents[1]


def command(task: Callable[..., dict[str, float]], *arguments: object) -> list[str]:
    """Return how to run a task in a new process, with the repository as its current folder."""
    return [sys.executable, "-m", "bench.child", task.__name__, *map(str, arguments)]


if __name__ == "__main__":
    sys.stdout.write(json.dumps(TASKS[sys.argv[1]](*sys.argv[2:])))
