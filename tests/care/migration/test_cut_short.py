"""A change of the embedding model that is killed at any stage, or finds no room, goes on when it is asked for again."""

import asyncio
import json
import multiprocessing
import signal
from pathlib import Path
from typing import Any

import pytest

from commonplace import AsyncMemory
from tests.backends import Backend
from tests.care.migration.changer import main
from tests.care.migration.models import NEW, OLD
from tests.care.migration.test_migration import dimensions, tell, texts

STAGES = ("begun", "batch", "built", "verified", "switched", "filled", "cleared")
processes = multiprocessing.get_context("forkserver")
processes.set_forkserver_preload(["tests.care.migration.changer"])
SWITCHED = ("switched", "filled", "cleared")


pytestmark = pytest.mark.backends("ledgers")


def child(place: dict[str, Any], told: Path, stage: str = "") -> int | None:
    """Change the model in another process, which kills itself at a stage, or finds no room. Returns its exit code."""
    process = processes.Process(target=main, args=(place, stage, told))
    process.start()
    process.join()
    return process.exitcode


@pytest.fixture
async def place(backend: Backend, tmp_path: Path) -> dict[str, Any]:
    place = backend.at(tmp_path / "memory")
    async with AsyncMemory.open(**place, embedder=OLD, learn=False) as memory:
        batch = [f"I saw the river near the harbour, number{n}" for n in range(280)]
        await memory.add(batch, user="ben", session="s")
        await tell(memory, count=20)
    return place


@pytest.mark.parametrize("stage", STAGES)
async def test_killed_at_any_stage_it_goes_on_where_it_stopped(
    place: dict[str, Any], tmp_path: Path, stage: str
) -> None:
    async with AsyncMemory.open(**place, embedder=OLD) as memory:
        before = await texts(memory)
    assert await asyncio.to_thread(child, place, tmp_path / "told", stage) == -signal.SIGKILL
    async with AsyncMemory.open(**place, embedder=NEW if stage in SWITCHED else OLD) as memory:
        assert await texts(memory) == before
        assert await dimensions(memory) == {256 if stage in SWITCHED else 64}
        await memory.add("I keep the zeppelin in the attic", user="ana")
        if stage == "cleared":
            await memory.discard_embeddings()
        else:
            done = await memory.migrate_embeddings(to=NEW)
            assert done.after == NEW.identity
            assert stage != "batch" or done.embedded < done.rows
        assert await dimensions(memory) == {256}
        assert (await memory.doctor()).healthy
        assert await texts(memory) == before


async def test_a_full_disk_stops_it_and_nothing_else(backend: Backend, place: dict[str, Any], tmp_path: Path) -> None:
    async with AsyncMemory.open(**place, embedder=OLD) as memory:
        before = await texts(memory)
    assert await asyncio.to_thread(child, place, tmp_path / "told") == 0
    told = json.loads((tmp_path / "told").read_text())
    assert told["failure"].startswith("LedgerUnavailable: ")
    assert ("ledger.db" if backend.ledger == "sqlite" else "No space left on device") in told["failure"]
    assert (told["found"], told["began"], told["switched"]) == (before, True, True)
    async with AsyncMemory.open(**place, embedder=NEW) as memory:
        assert await texts(memory) == before
        assert (await memory.doctor()).healthy
