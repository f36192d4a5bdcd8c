"""A change of the embedding model that is killed at any stage, or finds no room, goes on when it is asked for again."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from commonplace import AsyncMemory
from tests.care.migration.models import NEW, OLD
from tests.care.migration.test_migration import dimensions, tell, texts

ROOT = Path(__file__).parent.parent.parent.parent
STAGES = ("begun", "batch", "built", "verified", "switched", "filled", "cleared")
SWITCHED = ("switched", "filled", "cleared")


def child(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tests.care.migration.changer", *arguments],
        cwd=ROOT,
        env={"PATH": os.defpath, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
async def folder(tmp_path: Path) -> AsyncIterator[Path]:
    async with AsyncMemory.open(tmp_path / "memory", embedder=OLD, learn=False) as memory:
        batch = [f"I saw the river near the harbour, number{n}" for n in range(280)]
        await memory.add(batch, user="ben", session="s")
        await tell(memory, count=20)
    yield tmp_path / "memory"


@pytest.mark.parametrize("stage", STAGES)
async def test_killed_at_any_stage_it_goes_on_where_it_stopped(folder: Path, stage: str) -> None:
    async with AsyncMemory.open(folder, embedder=OLD) as memory:
        before = await texts(memory)
    ended = await asyncio.to_thread(child, str(folder), stage)
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    async with AsyncMemory.open(folder, embedder=NEW if stage in SWITCHED else OLD) as memory:
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


async def test_a_full_disk_stops_it_and_nothing_else(folder: Path) -> None:
    async with AsyncMemory.open(folder, embedder=OLD) as memory:
        before = await texts(memory)
    ended = await asyncio.to_thread(child, str(folder))
    assert ended.returncode == 0, ended.stderr
    told = json.loads(ended.stdout)
    assert told["failure"].startswith("LedgerUnavailable: ")
    assert "ledger.db" in told["failure"]
    assert (told["found"], told["began"], told["switched"]) == (before, True, True)
    async with AsyncMemory.open(folder, embedder=NEW) as memory:
        assert await texts(memory) == before
        assert (await memory.doctor()).healthy
