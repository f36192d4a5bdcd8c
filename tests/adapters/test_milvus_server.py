"""A Milvus server that is away, slow, empty all of a sudden, or used by several at once."""

import asyncio
import base64
import contextlib
import signal
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import grpc
import pytest
from pymilvus import MilvusClient

from commonplace.adapters.milvus import MilvusIndex, store
from commonplace.domain.errors import IndexUnavailable, InvalidInput
from tests.contracts.vector_index import ANA, BEN, axis, found
from tests.servers import free_port, milvus_running
from tests.tls import behind_tls, certified


async def test_a_server_that_is_away_is_an_error_at_once_and_used_again_when_it_is_back(tmp_path: Path) -> None:
    port = free_port()
    async with MilvusIndex(f"http://127.0.0.1:{port}") as index:
        with pytest.raises(IndexUnavailable, match=r"milvus \(http://127.0.0.1"):
            await index.search(ANA, axis(0), limit=1)
        with milvus_running(tmp_path, port=port):
            await index.upsert(ANA, {1: axis(0)})
            before = await index.identity(ANA)
        began = time.monotonic()
        for _ in range(3):
            with pytest.raises(IndexUnavailable):
                await index.search(ANA, axis(0), limit=1)
        assert time.monotonic() - began < 8  # a time-out would take 10 each
        with milvus_running(tmp_path, port=port):
            assert await found(index, ANA, axis(0)) == [1]
            assert await index.identity(ANA) == before


async def test_a_server_that_falls_silent_is_not_waited_for_for_ever(tmp_path: Path) -> None:
    with milvus_running(tmp_path) as (url, server):
        async with MilvusIndex(url, timeout=1) as index:
            await index.upsert(ANA, {1: axis(0)})
            server.send_signal(signal.SIGSTOP)
            began = time.monotonic()
            with pytest.raises(IndexUnavailable):
                await index.search(ANA, axis(0), limit=1)
            assert time.monotonic() - began < 5
            server.send_signal(signal.SIGCONT)
            assert await found(index, ANA, axis(0)) == [1]
    with socket.create_server(("127.0.0.1", 0)) as silent:
        async with MilvusIndex(f"http://127.0.0.1:{silent.getsockname()[1]}", timeout=0.2) as index:
            with pytest.raises(IndexUnavailable):
                await index.search(ANA, axis(0), limit=1)


async def test_a_server_that_takes_no_pings_of_the_idle_does_not_end_the_connection(
    milvus_url: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    for option, value in {"grpc.keepalive_time_ms": 1_000, "grpc.http2.max_pings_without_data": 0}.items():
        monkeypatch.setitem(store.OPTIONS, option, value)
    async with MilvusIndex(milvus_url) as index:
        await index.collections()
        await asyncio.sleep(5)
        await index.collections()
    assert "too_many_pings" not in capfd.readouterr().err


async def test_a_server_that_lost_everything_is_noticed_and_fed_again(tmp_path: Path) -> None:
    port = free_port()
    async with MilvusIndex(f"http://127.0.0.1:{port}") as index:
        with milvus_running(tmp_path / "before", port=port):
            await index.upsert(ANA, {1: axis(0)})
            before = await index.identity(ANA)
        with milvus_running(tmp_path / "after", port=port):
            with pytest.raises(IndexUnavailable):
                await index.upsert(ANA, {1: axis(0)}, identity=before)
            assert await index.identity(ANA) != before
            assert await index.numbers(ANA) == frozenset()


async def test_two_clients_of_a_server_see_each_other(milvus_url: str) -> None:
    async with MilvusIndex(milvus_url) as first, MilvusIndex(milvus_url) as second:
        await first.drop(BEN)
        await first.upsert(BEN, {1: axis(0)})
        before = await second.identity(BEN)
        assert await found(second, BEN, axis(0)) == [1]
        assert before == await first.identity(BEN)
        await first.erase(BEN)
        with pytest.raises(IndexUnavailable, match="not the one that was fed"):
            await second.upsert(BEN, {1: axis(0)}, identity=before)
        await first.upsert(BEN, {2: axis(0)})
        with pytest.raises(IndexUnavailable, match="not the one that was fed"):
            await second.search(BEN, axis(0), limit=1, identity=before)
        assert await found(second, BEN, axis(0)) == [2]


async def test_of_collections_made_at_the_same_moment_one_stays_and_all_may_use_it_at_once(milvus_url: str) -> None:
    async with contextlib.AsyncExitStack() as stack:
        indexes = [await stack.enter_async_context(MilvusIndex(milvus_url)) for _ in range(4)]
        await indexes[0].drop(BEN)
        with contextlib.suppress(IndexUnavailable):  # who made one that did not stay is told so, and asks again
            await asyncio.gather(*(index.identity(BEN) for index in indexes))
        assert len({await index.identity(BEN) for index in indexes}) == 1
        assert [held[BEN] for held in await asyncio.gather(*(index.collections() for index in indexes))] == [0] * 4


async def test_a_collection_that_somebody_let_go_of_is_loaded_again(milvus_url: str) -> None:
    async with MilvusIndex(milvus_url) as index:
        await index.drop(BEN)
        await index.upsert(BEN, {1: axis(0)})
        client = MilvusClient(milvus_url, grpc_options=store.OPTIONS)
        client.release_collection((await index.identity(BEN)).removeprefix("milvus:"))
        client.close()
        with pytest.raises(IndexUnavailable, match="load"):
            await index.search(BEN, axis(0), limit=1)
        assert await found(index, BEN, axis(0)) == [1]


@contextlib.contextmanager
def listening() -> Iterator[tuple[str, list[str]]]:
    """Yield the address of a server that only writes down what it is shown, and lets nobody in."""
    shown: list[str] = []

    class Ear(grpc.GenericRpcHandler):  # type: ignore[misc]
        def service(self, details: grpc.HandlerCallDetails) -> grpc.RpcMethodHandler:
            shown.extend(value for key, value in details.invocation_metadata if key == "authorization")
            return grpc.unary_unary_rpc_method_handler(
                lambda _, context: context.abort(grpc.StatusCode.UNAUTHENTICATED, "no")
            )

    with ThreadPoolExecutor(1) as threads:
        server = grpc.server(threads, handlers=[Ear()])
        port = server.add_insecure_port("127.0.0.1:0")
        server.start()
        try:
            yield f"http://127.0.0.1:{port}", shown
        finally:
            server.stop(None).wait()


async def test_the_token_is_sent_and_who_is_not_let_in_is_told() -> None:
    with listening() as (url, shown):
        async with MilvusIndex(url, token="root:t0ken") as index:
            with pytest.raises(IndexUnavailable):
                await index.search(ANA, axis(0), limit=1)
    assert {base64.b64decode(one) for one in shown} == {b"root:t0ken"}


async def test_tls_with_an_authority_of_ones_own(tmp_path: Path, milvus_url: str) -> None:
    ca = certified(tmp_path)
    async with behind_tls(tmp_path, int(milvus_url.rpartition(":")[2])) as guarded:
        url = f"https://127.0.0.1:{guarded}"
        async with MilvusIndex(url, ca_file=ca) as index:
            await index.upsert(ANA, {1: axis(0), 2: axis(1)})
            assert await found(index, ANA, axis(1), limit=1) == [2]
        async with MilvusIndex(url) as index:
            with pytest.raises(IndexUnavailable):
                await index.search(ANA, axis(0), limit=1)
    with pytest.raises(InvalidInput, match="a file that is there"):
        MilvusIndex(url, ca_file=tmp_path / "none.pem")


@pytest.mark.parametrize(
    "url", ["ftp://host", "host:19530", "memory.db", "http://ana:hush@host:19530", "http://host:port"]
)
def test_an_address_that_would_not_be_understood_is_refused_and_not_shown(url: str) -> None:
    with pytest.raises(InvalidInput, match=r"milvus_url: expected http://host:port .* milvus_token") as refused:
        MilvusIndex(url)
    assert "hush" not in str(refused.value)
