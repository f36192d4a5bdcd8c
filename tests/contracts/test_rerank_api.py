"""The hosted reranker, against a server that speaks its protocol and can be told to go wrong."""

import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from commonplace.adapters.hashing import HashEmbedder
from commonplace.adapters.rerank_api import RerankApi
from commonplace.domain.errors import RerankerUnavailable
from commonplace.memory import AsyncMemory
from tests.contracts.reranker import QUERY, TEXTS, RerankerContract

WRONG = {
    "not JSON": b"<html>",
    "no results": b"{}",
    "too few": b'{"results": [{"index": 0, "relevance_score": 0.5}]}',
    "no number": b'{"results": [{"index": 0, "relevance_score": "high"}]}',
    "not finite": b'{"results": [{"index": 0, "relevance_score": NaN}, {"index": 1, "relevance_score": 1}]}',
    "a list": b"[1, 2]",
}


class Served(ThreadingHTTPServer):
    reply: bytes | None = None
    status = 200
    pause = 0.0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"


class Handler(BaseHTTPRequestHandler):
    server: Served

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        time.sleep(self.server.pause)
        scores = [min(1.0, text.count("tools") / 4) for text in asked["documents"]]
        ranked = sorted(
            ({"index": n, "relevance_score": s} for n, s in enumerate(scores)), key=lambda r: -r["relevance_score"]
        )
        allowed = self.headers["Authorization"] == "Bearer secret" and self.path == "/v1/rerank"
        self.send_response(self.server.status if allowed else 401)
        self.end_headers()
        self.wfile.write(self.server.reply or json.dumps({"results": ranked}).encode())

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Served]:
    served = Served(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=served.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield served
    served.shutdown()
    thread.join()
    served.server_close()


class TestRerankApi(RerankerContract):
    @pytest.fixture
    def reranker(self, server: Served) -> RerankApi:
        return RerankApi(server.url, key="secret")

    @pytest.fixture
    def broken(self) -> RerankApi:
        return RerankApi("http://127.0.0.1:1", timeout=1)


@pytest.mark.parametrize("reply", WRONG.values(), ids=list(WRONG))
async def test_an_answer_of_another_shape_is_a_failure(server: Served, reply: bytes) -> None:
    server.reply = reply
    with pytest.raises(RerankerUnavailable, match="expected"):
        await RerankApi(server.url, key="secret").score(QUERY, TEXTS[:2])


async def test_a_wrong_key_and_a_slow_server_are_failures(server: Served) -> None:
    with pytest.raises(RerankerUnavailable, match="401"):
        await RerankApi(server.url, key="wrong").score(QUERY, TEXTS)
    server.pause = 0.5
    with pytest.raises(RerankerUnavailable):
        await RerankApi(server.url, key="secret", timeout=0.05).score(QUERY, TEXTS)


async def test_a_failing_reranker_leaves_the_order_as_it_was_and_says_so(server: Served) -> None:
    async with AsyncMemory.ephemeral(
        embedder=HashEmbedder(), index="exact", rerank=server.url, rerank_key="secret"
    ) as memory:
        for name in ("tools tools tools", "some tools", "old garden tools"):
            await memory.remember(f"Has {name}", user="ana")
        found = await memory.recall("Which tools do I have?", user="ana", explain=True)
        server.status = 500
        failed = await memory.recall("Which tools do I have?", user="ana", explain=True)

    assert found[0].text == "Has tools tools tools"
    assert [item.why.rerank[0] for item in found if item.why and item.why.rerank] == [1, 2, 3]
    assert {item.id for item in failed} == {item.id for item in found}
    assert all(item.why is not None and item.why.rerank is None for item in failed)
    assert "not reranked" in failed.notes[0]
