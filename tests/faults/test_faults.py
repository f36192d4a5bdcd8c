"""What goes wrong around a memory: nothing acknowledged is lost, messages are clear, work goes on where it can."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
import pytest
from numpy.typing import NDArray

from commonplace.adapters.inmemory.index import InMemoryIndex
from commonplace.adapters.s3 import S3SnapshotStore
from commonplace.domain.errors import IndexUnavailable, StoreUnavailable
from commonplace.engine.engine import Engine
from commonplace.interfaces.cli.app import run
from commonplace.memory import AsyncMemory
from commonplace.ports.index import Near
from commonplace.ports.ledger import Vector
from commonplace.sync import Memory
from tests.backends import Backend
from tests.care.folders import NOW, directions, memory_of, parts_of
from tests.servers import postgres_on_a_small_disk

ROOT = Path(__file__).parent.parent.parent

pytestmark = pytest.mark.backends("ledgers")


@pytest.fixture
def place(backend: Backend, tmp_path: Path) -> dict[str, Any]:
    return backend.at(tmp_path / "memory")


def child(script: str, *arguments: str | Path) -> str:
    ran = subprocess.run(
        [sys.executable, "-m", f"tests.faults.{script}", *map(str, arguments)],
        cwd=ROOT,
        env={"PATH": os.defpath, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


@pytest.fixture
def small(backend: Backend, place: dict[str, Any]) -> Iterator[tuple[dict[str, Any], list[Path]]]:
    """A place, and the disk of its server if it has one: the files of a process can be kept from growing otherwise."""
    if backend.ledger == "sqlite":
        yield place, []
        return
    with postgres_on_a_small_disk("tables") as (url, disk):
        yield place | {"database_url": url}, [disk]


async def test_a_full_disk_loses_nothing_acknowledged_and_work_goes_on_when_there_is_room(
    backend: Backend, small: tuple[dict[str, Any], list[Path]], tmp_path: Path
) -> None:
    place, disk = small
    given = json.dumps(place, default=str)
    told = json.loads(await asyncio.to_thread(child, "small_disk", given, tmp_path / "backups", *disk))
    add, snapshot = told["failures"]
    assert add.startswith("LedgerUnavailable: ")
    assert ("ledger.db" if backend.ledger == "sqlite" else "No space left on device") in add
    assert snapshot.startswith(("StoreUnavailable: ", "LedgerUnavailable: ")) and str(tmp_path) in snapshot
    assert (told["snapshots"], told["readable"], told["again"]) == (0, len(told["kept"]) - 1, 1)
    async with memory_of(**place) as memory:
        assert {one.id for one in await memory.messages(user="ana", limit=2_000)} == set(told["kept"])
        assert (await memory.doctor()).healthy
        assert (await memory.verify_snapshot(at=tmp_path / "backups")).whole


async def test_a_folder_that_may_only_be_read_is_refused_by_name(tmp_path: Path) -> None:
    told = await asyncio.to_thread(child, "read_only", tmp_path)
    assert told.startswith("LedgerUnavailable: ") and "ledger.db" in told


async def test_a_clock_that_goes_backwards_loses_and_breaks_nothing(place: dict[str, Any]) -> None:
    clock = [NOW]
    async with parts_of(**place) as parts, Engine(replace(parts, now=lambda: clock[0])) as memory:
        first = await memory.add("I use Shram as a tool", user="ana", session="s1")
        clock[0] = NOW - timedelta(days=400)
        second = await memory.add("I use Magnet as a tool", user="ana", session="s1")
        assert {one.id for one in await memory.messages(user="ana")} == {*first.messages, *second.messages}
        clock[0] = NOW + timedelta(minutes=1)
        assert {"Shram", "Magnet"} <= {fact.value for fact in await memory.facts(user="ana")}
        assert (await memory.session("s1", user="ana").update({"step": 1}))["step"] == 1
        receipt = await memory.forget(user="ana", message=second.messages[0])
        assert receipt.counts["ledger"]["messages"] == 1
        assert (await memory.doctor()).healthy


class Failing(InMemoryIndex):
    """Raises in one of its methods, until it is mended."""

    def __init__(self, method: str) -> None:
        super().__init__()
        self._method: str | None = method

    def mend(self) -> None:
        self._method = None

    def _fail(self, method: str) -> None:
        if method == self._method:
            raise IndexUnavailable("chroma: it failed")

    async def identity(self, collection: str) -> str:
        self._fail("identity")
        return await super().identity(collection)

    async def upsert(self, collection: str, vectors: Mapping[int, Vector], *, identity: str | None = None) -> None:
        self._fail("upsert")
        await super().upsert(collection, vectors, identity=identity)

    async def remove(self, collection: str, numbers: Sequence[int]) -> None:
        self._fail("remove")
        await super().remove(collection, numbers)

    async def search(
        self, collection: str, vector: Vector, *, limit: int, identity: str | None = None
    ) -> Sequence[Near]:
        self._fail("search")
        return await super().search(collection, vector, limit=limit, identity=identity)

    async def numbers(self, collection: str) -> frozenset[int]:
        self._fail("numbers")
        return await super().numbers(collection)

    async def erase(self, *collections: str) -> int:
        self._fail("erase")
        return await super().erase(*collections)


@asynccontextmanager
async def with_index(place: dict[str, Any], index: Failing) -> AsyncIterator[Engine]:
    async with parts_of(**place) as parts:
        options = replace(parts.options, index="chroma")
        async with Engine(replace(parts, index=index, options=options)) as memory:
            await memory.start()
            yield memory


@pytest.mark.parametrize("method", ["identity", "upsert", "remove", "search", "numbers", "erase"])
async def test_an_index_that_raises_in_any_call_keeps_nobody_from_an_answer(place: dict[str, Any], method: str) -> None:
    index = Failing(method)
    async with with_index(place, index) as memory:
        added = await memory.add("I use Shram as a tool", user="ana")
        assert {item.sources[0] for item in await memory.recall("tools", user="ana")} == set(added.messages)
        await memory.doctor()
        if method == "erase":
            with pytest.raises(IndexUnavailable, match="when the memory is next opened"):
                await memory.forget(user="ana")
        else:
            await memory.forget(user="ana")
        assert await memory.recall("tools", user="ana") == []
    index.mend()
    async with memory_of(**place) as memory:
        assert len(await memory.receipts(user="ana")) == 1


async def test_an_embedder_that_raises_keeps_nobody_from_adding_and_finding_by_words(place: dict[str, Any]) -> None:
    broken: list[bool] = []

    def embed(texts: list[str]) -> NDArray[np.float32]:
        if broken:
            raise RuntimeError("out of memory")
        return directions(texts)

    async with AsyncMemory.open(**place, embedder=embed) as memory:
        broken.append(True)
        added = await memory.add("I use Shram as a tool", user="ana")
        assert any("by words only" in note for note in added.notes)
        found = await memory.recall("Shram", user="ana")
        assert {item.sources[0] for item in found} == set(added.messages)
        broken.clear()
        assert (await memory.doctor(repair=True)).healthy
        assert (await memory.stats()).counts["rows_without_vector"] == 0


@contextmanager
def answering(respond: Callable[[BaseHTTPRequestHandler], None]) -> Iterator[str]:
    """Run a server that does the same to every request, and yield its URL."""

    class Handler(BaseHTTPRequestHandler):
        def do_PUT(self) -> None:
            respond(self)

        do_GET = do_PUT

        def log_message(self, format: str, *args: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


def refuse(request: BaseHTTPRequestHandler) -> None:
    request.send_response(503)
    request.send_header("Content-Length", "0")
    request.end_headers()


def dawdle(request: BaseHTTPRequestHandler) -> None:
    time.sleep(3)


@pytest.mark.parametrize("respond", [refuse, dawdle])
async def test_s3_that_fails_or_is_slow_ends_a_snapshot_with_a_clear_message_and_nothing_else(
    place: dict[str, Any], monkeypatch: pytest.MonkeyPatch, respond: Callable[[BaseHTTPRequestHandler], None]
) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    with answering(respond) as url:

        def store(place: str) -> S3SnapshotStore:
            return S3SnapshotStore(place, endpoint=url, timeout=0.3, patience=1)

        async with parts_of(**place) as parts, Engine(replace(parts, open_store=store)) as memory:
            await memory.add("I use Shram", user="ana")
            with pytest.raises(StoreUnavailable, match="s3://bucket/backups"):
                await memory.snapshot("s3://bucket/backups")
            await memory.add("I use Magnet", user="ana")
            assert len(await memory.messages(user="ana")) == 2
            assert not any("could not be told" in note for note in (await memory.forget(user="ana")).notes)


LONG_AGO = "2020-05-12T09:30:00+00:00"
TOLD = "".join(
    json.dumps({"role": "user", "content": f"I saw bird {n} in the garden", "at": LONG_AGO}) + "\n"
    for n in range(1_000)
)


@pytest.mark.parametrize("command", ["import", "snapshot", "restore", "forget", "purge", "reindex"])
def test_sigterm_in_a_long_command_leaves_nothing_half_done(
    backend: Backend, tmp_path: Path, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "told.jsonl").write_text(TOLD)
    monkeypatch.chdir(tmp_path)
    variables = backend.variables(tmp_path / "home", model_cache=tmp_path / "no-model", index="auto")
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    into = backend.named(tmp_path / "restored")
    commands = {
        "import": ["import", "told.jsonl", "--user", "ana", "--no-learn"],
        "snapshot": ["snapshot", "create", "--to", "backups"],
        "restore": ["restore", "--from", "backups", "--into", str(into)],
        "forget": ["forget", "--user", "ana", "--yes"],
        "purge": ["purge"],
        "reindex": ["reindex"],
    }
    if command != "import":
        assert run(commands["import"]) == 0
    if command == "purge":
        monkeypatch.setenv("RETENTION_DAYS", "30")
    if command == "restore":
        assert run(commands["snapshot"]) == 0
    file = ".restored.*.restoring/ledger.db" if command == "restore" else "home/*-wal"
    url = into if command == "restore" else variables.get("COMMONPLACE_DATABASE_URL")
    while connected(url):  # what ran before is still leaving
        time.sleep(0.01)
    ours = subprocess.Popen([sys.executable, "-m", "commonplace.interfaces.cli", *commands[command]])
    while ours.poll() is None and not (any(tmp_path.glob(file)) or connected(url)):
        time.sleep(0.01)
    ours.send_signal(signal.SIGTERM)
    assert ours.wait() in (0, 130)
    assert [name for name in os.listdir(tmp_path) if "restoring" in name] == []
    assert run(commands[command]) in ((0, 2) if command == "restore" else (0,))  # 2: all of it was there already
    if command == "restore":
        with Memory.open(**backend.at(tmp_path / "restored") | {"index": "auto"}) as restored:
            assert restored.stats().counts["messages"] == 1_000
    assert run(["doctor", "--json"]) in (0, 1)
    assert command not in {"snapshot", "restore"} or run(["snapshot", "list", "--at", "backups", "--json"]) == 0


def connected(url: object) -> bool:
    """Whether a command has come as far as its database."""
    if not isinstance(url, str):
        return False
    with psycopg.connect(url) as connection:
        (others,) = connection.execute(
            "select count(*) from pg_stat_activity"
            " where datname = current_database() and application_name = 'commonplace' and pid <> pg_backend_pid()"
        ).fetchone() or (0,)
        return bool(others)
