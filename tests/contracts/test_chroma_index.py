from collections.abc import AsyncIterator
from pathlib import Path

import numpy as np
import pytest

from commonplace.adapters.chroma.index import ChromaIndex, Embedded, InProcess, Server
from tests.contracts.vector_index import VectorIndexContract


class TestChromaInAFolder(VectorIndexContract):
    @pytest.fixture
    async def index(self, tmp_path: Path) -> AsyncIterator[ChromaIndex]:
        async with ChromaIndex(Embedded(tmp_path / "chroma")) as index:
            yield index


class TestChromaInMemory(VectorIndexContract):
    @pytest.fixture
    async def index(self) -> AsyncIterator[ChromaIndex]:
        async with ChromaIndex(InProcess()) as index:
            yield index


class TestChromaServer(VectorIndexContract):
    @pytest.fixture
    async def index(self, chroma_url: str) -> AsyncIterator[ChromaIndex]:
        async with ChromaIndex(Server(chroma_url)) as index:
            for collection in await index.collections():
                await index.drop(collection)
            yield index


class TestChromaServerSharedWithOthers(VectorIndexContract):
    @pytest.fixture
    async def index(self, chroma_url: str) -> AsyncIterator[ChromaIndex]:
        async with ChromaIndex(Server(chroma_url), prefix="ours") as index, ChromaIndex(Server(chroma_url)) as others:
            for collection in await others.collections():
                await others.drop(collection)
            await others.upsert("theirs", {1: np.ones(3, np.float32)})
            yield index
            assert await others.numbers("theirs") == {1}, "what belongs to others was left alone"


async def test_erasing_finds_a_collection_also_under_the_prefix_it_had_before(tmp_path: Path) -> None:
    place = Embedded(tmp_path / "chroma")
    for prefix in ("before", None):
        async with ChromaIndex(place, prefix=prefix) as index:
            await index.upsert("cp-1", {1: np.ones(3, np.float32)})
    async with ChromaIndex(place, prefix="now") as index:
        assert await index.collections() == {}
        assert await index.erase("cp-1") == 0
    async with ChromaIndex(place) as index:
        assert await index.collections() == {}
