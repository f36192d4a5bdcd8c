"""The client's own store, asked directly and over HTTP (`tests/qdrant_rest.py`): no package carries a server."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from commonplace.adapters.qdrant import QdrantIndex
from commonplace.domain.errors import IndexUnavailable, InvalidInput
from tests.contracts.vector_index import ANA, BEN, VectorIndexContract, axis, found
from tests.qdrant_rest import qdrant_running
from tests.servers import free_port
from tests.tls import behind_tls, certified


class TestQdrantInMemory(VectorIndexContract):
    @pytest.fixture
    async def index(self) -> AsyncIterator[QdrantIndex]:
        async with QdrantIndex.at(":memory:") as index:
            yield index


class TestQdrantOverHttp(VectorIndexContract):
    @pytest.fixture
    async def index(self) -> AsyncIterator[QdrantIndex]:
        with qdrant_running() as server:
            async with QdrantIndex.at(server.url) as index:
                yield index


async def test_a_folder_keeps_what_it_was_given(tmp_path: Path) -> None:
    async with QdrantIndex.at(str(tmp_path / "qdrant")) as index:
        await index.upsert(ANA, {1: axis(0), 2: axis(1)})
        before = await index.identity(ANA)
    async with QdrantIndex.at(str(tmp_path / "qdrant")) as index:
        assert await index.identity(ANA) == before
        assert [near.n for near in await index.search(ANA, axis(1), limit=1, identity=before)] == [2]


async def test_a_server_that_is_away_is_an_error_and_not_an_empty_answer() -> None:
    port = free_port()
    async with QdrantIndex.at(f"http://127.0.0.1:{port}") as index:
        with pytest.raises(IndexUnavailable, match="qdrant"):
            await index.search(ANA, axis(0), limit=1)
        with qdrant_running(port=port):
            await index.upsert(ANA, {1: axis(0)})
            before = await index.identity(ANA)
            assert await found(index, ANA, axis(0)) == [1]
        with pytest.raises(IndexUnavailable, match="qdrant"):
            await index.search(ANA, axis(0), limit=1)
        with qdrant_running(port=port):  # and everything it held is gone
            with pytest.raises(IndexUnavailable, match="not the one that was fed"):
                await index.upsert(ANA, {1: axis(0)}, identity=before)
            assert await index.numbers(ANA) == frozenset()


async def test_a_server_that_is_silent_is_not_waited_for_for_ever() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        async with QdrantIndex.at(f"http://127.0.0.1:{silent.getsockname()[1]}", timeout=1) as index:
            with pytest.raises(IndexUnavailable):
                await index.search(ANA, axis(0), limit=1)


async def test_a_key_and_tls_with_an_authority_of_ones_own(tmp_path: Path) -> None:
    ca = certified(tmp_path)
    with qdrant_running(key="k3y") as server:
        async with behind_tls(tmp_path, server.server_port) as guarded:
            url = f"https://127.0.0.1:{guarded}"
            async with QdrantIndex.at(url, key="k3y", ca_file=ca) as index:
                await index.upsert(ANA, {1: axis(0)})
                assert await found(index, ANA, axis(0)) == [1]
            for key, trusted in (("other", ca), (None, ca), ("k3y", None)):
                async with QdrantIndex.at(url, key=key, ca_file=trusted) as index:
                    with pytest.raises(IndexUnavailable):
                        await index.search(ANA, axis(0), limit=1)


async def test_of_collections_made_at_the_same_moment_one_stays() -> None:
    with qdrant_running() as server:
        async with contextlib.AsyncExitStack() as stack:
            indexes = [await stack.enter_async_context(QdrantIndex.at(server.url)) for _ in range(4)]
            with contextlib.suppress(IndexUnavailable):  # who made one that did not stay is told so, and asks again
                await asyncio.gather(*(index.identity(BEN) for index in indexes))
            assert len({await index.identity(BEN) for index in indexes}) == 1
            assert len(server.store.get_collections().collections) == 1


@pytest.mark.parametrize("url", ["ftp://host", "http://[::1", "http://host:port", "http://ana:hush@host:6333"])
def test_an_address_that_is_none_or_would_lose_its_password_is_refused_and_not_shown(url: str) -> None:
    with pytest.raises(InvalidInput, match="qdrant_url: expected http://host:port .* qdrant_key") as refused:
        QdrantIndex.at(url)
    assert "hush" not in str(refused.value)


@pytest.mark.parametrize("key", ["k3y\n", "k3 y", "k3é", ""])
def test_a_key_that_no_header_takes_is_refused_and_not_shown(key: str) -> None:
    with pytest.raises(InvalidInput, match="qdrant_key: expected letters, digits and signs") as refused:
        QdrantIndex.at("http://127.0.0.1:6333", key=key)
    assert "k3" not in str(refused.value)
