"""The client's own stores, which speak the client's interface and nothing of the wire: a server was not run."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from commonplace.adapters.qdrant import QdrantIndex
from commonplace.domain.errors import IndexUnavailable, InvalidInput
from tests.contracts.vector_index import ANA, VectorIndexContract, axis
from tests.servers import free_port


class TestQdrantInMemory(VectorIndexContract):
    @pytest.fixture
    async def index(self) -> AsyncIterator[QdrantIndex]:
        async with QdrantIndex.at(":memory:") as index:
            yield index


async def test_a_folder_keeps_what_it_was_given(tmp_path: Path) -> None:
    async with QdrantIndex.at(str(tmp_path / "qdrant")) as index:
        await index.upsert(ANA, {1: axis(0), 2: axis(1)})
        before = await index.identity(ANA)
    async with QdrantIndex.at(str(tmp_path / "qdrant")) as index:
        assert await index.identity(ANA) == before
        assert [near.n for near in await index.search(ANA, axis(1), limit=1, identity=before)] == [2]


async def test_a_server_that_is_away_is_an_error_and_not_an_empty_answer() -> None:
    async with QdrantIndex.at(f"http://127.0.0.1:{free_port()}") as index:
        with pytest.raises(IndexUnavailable, match="qdrant"):
            await index.search(ANA, axis(0), limit=1)


@pytest.mark.parametrize("url", ["ftp://host", "http://[::1", "http://host:port", "http://ana:hush@host:6333"])
def test_an_address_that_is_none_or_would_lose_its_password_is_refused_and_not_shown(url: str) -> None:
    with pytest.raises(InvalidInput, match="qdrant_url: expected http://host:port .* qdrant_key") as refused:
        QdrantIndex.at(url)
    assert "hush" not in str(refused.value)
