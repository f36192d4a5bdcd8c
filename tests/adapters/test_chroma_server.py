"""A Chroma server that is away, slow, empty all of a sudden, or shared with others."""

import contextlib
import http.server
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from commonplace.adapters.chroma.index import ChromaIndex, Server
from commonplace.domain.errors import IndexUnavailable, InvalidInput
from tests.contracts.vector_index import ANA, BEN, axis, found
from tests.servers import chroma_running, free_port
from tests.tls import behind_tls, certified


async def test_a_server_that_is_away_is_an_error_and_not_an_empty_answer(tmp_path: Path) -> None:
    port = free_port()
    async with ChromaIndex(Server(f"http://127.0.0.1:{port}")) as index:
        with pytest.raises(IndexUnavailable):
            await index.search(ANA, axis(0), limit=1)
        with chroma_running(tmp_path, port=port):
            await index.upsert(ANA, {1: axis(0)})
            assert await found(index, ANA, axis(0)) == [1]
        with pytest.raises(IndexUnavailable):
            await index.search(ANA, axis(0), limit=1)
        with chroma_running(tmp_path, port=port):
            assert await found(index, ANA, axis(0)) == [1]


async def test_a_server_that_lost_everything_is_noticed_and_fed_again(tmp_path: Path) -> None:
    port = free_port()
    async with ChromaIndex(Server(f"http://127.0.0.1:{port}")) as index:
        with chroma_running(tmp_path / "before", port=port):
            await index.upsert(ANA, {1: axis(0)})
            before = await index.identity(ANA)
        with chroma_running(tmp_path / "after", port=port):
            with pytest.raises(IndexUnavailable, match="not the one it was"):
                await index.search(ANA, axis(0), limit=1)
            assert await index.identity(ANA) != before
            assert await index.numbers(ANA) == frozenset()


async def test_two_clients_of_a_server_see_each_other(chroma_url: str) -> None:
    async with ChromaIndex(Server(chroma_url)) as first, ChromaIndex(Server(chroma_url)) as second:
        await first.drop(BEN)
        assert first.owned
        assert second.owned
        await first.upsert(BEN, {1: axis(0)})
        assert await found(second, BEN, axis(0)) == [1]
        assert await second.identity(BEN) == await first.identity(BEN)
        await first.drop(BEN)
        await first.upsert(BEN, {2: axis(0)})
        with pytest.raises(IndexUnavailable):
            await second.search(BEN, axis(0), limit=1)
        assert await second.identity(BEN) == await first.identity(BEN)
        assert await found(second, BEN, axis(0)) == [2]


async def test_a_collection_that_another_client_has_replaced_is_listed_as_it_is_now(chroma_url: str) -> None:
    async with ChromaIndex(Server(chroma_url)) as first, ChromaIndex(Server(chroma_url)) as second:
        await second.upsert(BEN, {1: axis(0)})
        await first.drop(BEN)
        await first.upsert(BEN, {2: axis(0), 3: axis(1)})
        assert (await second.collections())[BEN] == 2
        assert await second.identity(BEN) == await first.identity(BEN)
        await first.drop(BEN)
        assert BEN not in await second.collections()


async def test_every_collection_of_a_server_is_listed(chroma_url: str) -> None:
    async with ChromaIndex(Server(chroma_url)) as index:
        names = {f"commonplace-many-{n}" for n in range(120)}
        for name in names:
            await index.identity(name)
        assert names <= (await index.collections()).keys()
        for name in names:
            await index.drop(name)


async def test_a_server_that_does_not_answer_is_not_waited_for_for_ever() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        async with ChromaIndex(Server(f"http://127.0.0.1:{silent.getsockname()[1]}", timeout=0.2)) as index:
            with pytest.raises(IndexUnavailable, match="Timeout"):
                await index.search(ANA, axis(0), limit=1)


@contextlib.contextmanager
def listening() -> Iterator[tuple[str, list[dict[str, str]]]]:
    """Yield the address of a server that only writes down the headers of what it is asked."""
    heard: list[dict[str, str]] = []

    class Ear(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            heard.append(dict(self.headers.items()))
            self.send_error(503)

        def log_message(self, format: str, *args: object) -> None:
            return

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Ear) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", heard
        finally:
            server.shutdown()
            thread.join()


async def test_the_token_and_headers_are_sent() -> None:
    with listening() as (url, heard):
        async with ChromaIndex(Server(url, token="t0ken", headers={"X-Region": "eu"})) as index:
            with pytest.raises(IndexUnavailable):
                await index.search(ANA, axis(0), limit=1)
    assert heard
    assert all((one["Authorization"], one["X-Region"]) == ("Bearer t0ken", "eu") for one in heard)


@pytest.mark.parametrize("token", ["t0ken\n", "t0 ken", " ", "t0kén", ""])
def test_a_token_that_no_header_takes_is_refused_and_not_shown(token: str) -> None:
    """As it comes from a file with a line's end: httpx would put all of it into its error, and so into notes."""
    with pytest.raises(InvalidInput, match="chroma_token: expected letters, digits and signs") as refused:
        Server("http://127.0.0.1:8000", token=token)
    assert "t0" not in str(refused.value)


async def test_a_token_and_tls_with_an_authority_of_ones_own(tmp_path: Path, chroma_url: str) -> None:
    """The server itself has neither: as in production, a proxy in front of it has."""
    ca, port = certified(tmp_path), int(chroma_url.rpartition(":")[2])

    def shows_it(first: bytes) -> bool:
        return b"authorization: bearer t0ken" in first.lower()

    async with behind_tls(tmp_path, port, admits=shows_it) as guarded:
        url = f"https://127.0.0.1:{guarded}"
        async with ChromaIndex(Server(url, token="t0ken", ca_file=ca)) as index:
            await index.upsert(ANA, {1: axis(0), 2: axis(1)})
            assert [near.n for near in await index.search(ANA, axis(1), limit=1)] == [2]
            await index.drop(ANA)
        for wrong in (Server(url, token="other", ca_file=ca), Server(url, ca_file=ca), Server(url, token="t0ken")):
            async with ChromaIndex(wrong) as index:
                with pytest.raises(IndexUnavailable):
                    await index.search(ANA, axis(0), limit=1)
    with pytest.raises(InvalidInput, match="a file that is there"):
        Server(url, ca_file=tmp_path / "none.pem")


@pytest.mark.parametrize(
    "url",
    [
        "ftp://host:8000",
        "host:8000",
        "http://host:port",
        "http://[::1",
        "http://host:8000/behind/a/path",
        "http://ana:hush@host:8000",
        "http://ana:hu/sh@host:8000",
    ],
)
def test_an_address_of_which_a_part_would_be_dropped_is_refused_and_not_shown(url: str) -> None:
    with pytest.raises(InvalidInput, match=r"chroma_url: expected http://host:port .* chroma_token") as refused:
        Server(url)
    assert "hu" not in str(refused.value)
