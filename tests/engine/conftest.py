"""A memory with words hashed into vectors, the same on every run: in this process, unless the test is marked."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from commonplace.adapters.hashing import HashEmbedder
from commonplace.memory import AsyncMemory
from tests.backends import Backend, Engines


@pytest.fixture
async def memory(backend: Backend, tmp_path: Path) -> AsyncIterator[AsyncMemory]:
    embedder = HashEmbedder()
    opening = AsyncMemory.ephemeral(embedder=embedder, index="exact")
    if backend.engines != Engines():
        opening = AsyncMemory.open(**backend.at(tmp_path), embedder=embedder)
    async with opening as memory:
        yield memory
