from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from commonplace.adapters.chroma.index import ChromaIndex, Embedded, InProcess, Server
from tests.contracts.vector_index import VectorIndexContract
from tests.servers import chroma_url

__all__ = ["chroma_url"]


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
