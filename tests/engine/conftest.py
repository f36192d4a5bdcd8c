"""A memory that keeps everything in this process, with words hashed into vectors: quick, and the same on every run."""

from collections.abc import AsyncIterator

import pytest

from commonplace.adapters.hashing import HashEmbedder
from commonplace.memory import AsyncMemory


@pytest.fixture
async def memory() -> AsyncIterator[AsyncMemory]:
    async with AsyncMemory.ephemeral(embedder=HashEmbedder(dimensions=64), index="exact") as memory:
        yield memory
