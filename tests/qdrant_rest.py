"""The REST interface of Qdrant in front of its client's own store: the wire is real, the engine is not.

No package carries a Qdrant server. This one takes and gives what the client's own models describe, so that requests,
answers, keys, refusals and the time between two calls are those of a server.
"""

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

from qdrant_client import QdrantClient, models

Answer = Callable[[QdrantClient, str, Any], object]


def _create(store: QdrantClient, name: str, body: Any) -> object:
    asked = models.CreateCollection.model_validate(body)
    assert asked.hnsw_config is not None
    return store.create_collection(name, vectors_config=asked.vectors)


def _upsert(store: QdrantClient, name: str, body: Any) -> object:
    asked = models.PointsBatch.model_validate(body)
    return store.upsert(name, points=asked.batch)


def _delete(store: QdrantClient, name: str, body: Any) -> object:
    return store.delete(name, points_selector=models.PointIdsList.model_validate(body))


def _query(store: QdrantClient, name: str, body: Any) -> object:
    asked = models.QueryRequest.model_validate(body)
    return store.query_points(name, query=asked.query, limit=asked.limit or 10, with_payload=False)


def _scroll(store: QdrantClient, name: str, body: Any) -> object:
    asked = models.ScrollRequest.model_validate(body)
    points, after = store.scroll(name, limit=asked.limit or 10, offset=asked.offset, with_payload=False)
    return models.ScrollResult(points=points, next_page_offset=after)


ANSWERS: Mapping[tuple[str, str], Answer] = {
    ("GET", ""): lambda store, name, body: store.get_collection(name),
    ("GET", "exists"): lambda store, name, body: models.CollectionExistence(exists=store.collection_exists(name)),
    ("PUT", ""): _create,
    ("DELETE", ""): lambda store, name, body: store.delete_collection(name),
    ("PUT", "points"): _upsert,
    ("POST", "points/delete"): _delete,
    ("POST", "points/query"): _query,
    ("POST", "points/scroll"): _scroll,
    ("POST", "points/count"): lambda store, name, body: store.count(name, exact=body["exact"]),
}


class Handler(BaseHTTPRequestHandler):
    server: "QdrantRest"
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    """Else an answer waits 40 ms for the word that its first part has arrived."""

    def do_GET(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(length)) if length else None
        if self.server.key is not None and self.headers.get("api-key") != self.server.key:
            return self._send(401, {"status": {"error": "Must provide an API key or an Authorization bearer token"}})
        _, _, name, what = (*urlsplit(self.path).path.split("/", 3), "", "")[:4]
        with self.server.turn:
            return self._answer(name, what, body)

    do_POST = do_PUT = do_DELETE = do_GET

    def _answer(self, name: str, what: str, body: object) -> None:
        store = self.server.store
        if not name:
            return self._send(200, {"result": store.get_collections()})
        there, making = store.collection_exists(name), (self.command, what) == ("PUT", "")
        if making and there:
            return self._send(409, {"status": {"error": f"Wrong input: Collection `{name}` already exists!"}})
        if not there and not making and (self.command, what) not in (("GET", "exists"), ("DELETE", "")):
            return self._send(404, {"status": {"error": f"Not found: Collection `{name}` doesn't exist!"}})
        try:
            return self._send(200, {"result": ANSWERS[self.command, what](store, name, body)})
        except ValueError as error:
            return self._send(400, {"status": {"error": f"Wrong input: {error}"}})

    def _send(self, status: int, answer: Mapping[str, object]) -> None:
        said = {"time": 0.001, "status": "ok", **answer}
        data = json.dumps(said, default=lambda value: value.model_dump(mode="json")).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        pass


class QdrantRest(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, *, port: int = 0, key: str | None = None) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.key, self.store, self.turn = key, QdrantClient(":memory:"), threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


@contextmanager
def qdrant_running(*, port: int = 0, key: str | None = None) -> Iterator[QdrantRest]:
    with QdrantRest(port=port, key=key) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
            server.store.close()
