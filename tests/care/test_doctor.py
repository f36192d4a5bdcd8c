"""doctor: what it finds, what that means, and what a repair does about it."""

import logging
import shutil
import sqlite3
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from commonplace.domain.errors import LedgerCorrupt
from commonplace.domain.results import Finding
from commonplace.domain.scope import Scope
from commonplace.engine.engine import Engine
from commonplace.ports.jobs import Job
from tests.backends import Backend
from tests.care.folders import NOW, memory_of, parts_of, settle
from tests.servers import run_sql

pytestmark = pytest.mark.backends("ledgers")


@pytest.fixture
def place(backend: Backend, tmp_path: Path) -> dict[str, Any]:
    return backend.at(tmp_path / "memory")


def changed(place: dict[str, Any], sql: str) -> None:
    if "database_url" in place:
        run_sql(place["database_url"].replace("//app@", "//postgres@"), sql)  # no policy keeps rows from it
        return
    with closing(sqlite3.connect(place["home"] / "ledger.db", isolation_level=None)) as connection:
        connection.execute(sql)


async def found(memory: Engine, *, repair: bool = False) -> dict[str, Finding]:
    return {finding.check: finding for finding in (await memory.doctor(repair=repair)).findings}


@pytest.mark.backends("pairwise")
async def test_a_sound_memory_has_nothing_to_say_and_the_checks_are_named(
    backend: Backend, place: dict[str, Any]
) -> None:
    async with memory_of(**place) as memory:
        await memory.add("I use Shram", user="ana", session="s1")
        await settle(memory)
        checkup = await memory.doctor()
        assert checkup.findings == ()
        named = {"ledger", "full text", "sessions", "queue", "model", "permissions", "files", "space", "vectors"}
        named |= {"cache", "index", "attachments"} | ({"redis"} & {backend.engines.sessions})
        assert named == set(checkup.checks)


async def test_what_others_can_read_is_made_private_and_strange_files_are_named(tmp_path: Path) -> None:
    async with memory_of(tmp_path / "memory") as memory:
        (tmp_path / "memory" / "notes.txt").touch(mode=0o644)
        (tmp_path / "memory").chmod(0o755)
        seen = await found(memory)
        assert "can be read by others" in seen["permissions"].message and seen["permissions"].means
        assert "notes.txt" in seen["files"].message
        assert (await found(memory, repair=True))["permissions"].repaired
        assert "permissions" not in await found(memory)
        assert (tmp_path / "memory" / "notes.txt").stat().st_mode & 0o777 == 0o600
        assert (await memory.doctor()).healthy


async def test_states_of_sessions_that_are_over_are_cleaned(place: dict[str, Any]) -> None:
    async with memory_of(**place) as memory:
        await memory.session("s1", user="ana").update({"step": 1})
    async with memory_of(**place, now=NOW + timedelta(days=3)) as memory:
        assert "1 sessions are over" in (await found(memory))["sessions"].message
        assert (await found(memory, repair=True))["sessions"].repaired
        assert "sessions" not in await found(memory)


async def test_a_queue_that_nobody_works_on_is_told_with_what_to_do(place: dict[str, Any]) -> None:
    async with parts_of(**place, now=NOW) as parts, Engine(parts) as memory:
        old = NOW - timedelta(hours=2)
        for id_ in ("j1", "j2"):
            job = Job(
                id=id_, scope=Scope("default", "ana"), kind="learn", payload={"message": "m1"}, epoch=0, run_at=old
            )
            await parts.ledger.enqueue(job)
        assert "2 messages wait" in (await found(memory))["queue"].message
        await parts.ledger.bury("j1", error="no answer")
        await parts.ledger.finish("j2")
        assert "replay" in (await found(memory))["queue"].means


async def test_a_full_text_with_gaps_is_let_go_and_built_again(backend: Backend, place: dict[str, Any]) -> None:
    async with parts_of(**place) as parts, Engine(parts) as memory:
        await memory.add("I use Shram", user="ana")
        assert parts.full_text is not None
        await parts.full_text.build_full_text(Scope("default", "ana"))
        changed(place, f"delete from {'full_text_docsize' if backend.ledger == 'sqlite' else 'full_text'}")
        assert "gaps in their full text" in (await found(memory))["full text"].message
        assert (await found(memory, repair=True))["full text"].repaired
        assert await found(memory) == {}


@pytest.mark.backends("files")  # PostgreSQL keeps references right itself
async def test_damage_to_the_truth_is_told_and_never_repaired(place: dict[str, Any]) -> None:
    async with memory_of(**place) as memory:
        await memory.add("I use Shram", user="ana")
        changed(place, "insert into fact_history values (99, 12345, 1, 'learned', 0, '', null)")
        seen = (await found(memory, repair=True))["ledger"]
        assert (seen.severity, seen.repaired) == ("error", False)
        assert "snapshot" in seen.means


async def test_the_model_whose_vectors_these_are_not_is_told(place: dict[str, Any]) -> None:
    async with memory_of(**place) as memory:
        await memory.add("I use Shram", user="ana")
        changed(place, "update meta set value = 'another model' where key = 'embedder'")
        assert "another model" in (await found(memory))["model"].message


@pytest.mark.backends("files")  # what a folder of Chroma has lost is the same with any ledger
@pytest.mark.parametrize("damage", ["deleted", "overwritten"])
async def test_a_lost_chroma_folder_is_made_again_with_a_line_in_the_log_and_answers_stay_right(
    place: dict[str, Any], damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    folder, place = place["home"], {**place, "index": "chroma"}
    async with memory_of(**place) as memory:
        for n in range(12):
            await memory.add(f"I use Shram{n} as a tool", user="ana")
        await settle(memory)
        before = [item.id for item in await memory.recall("tools", user="ana")]
    if damage == "deleted":
        shutil.rmtree(folder / "chroma")
    else:
        (folder / "chroma" / "chroma.sqlite3").write_bytes(b"no database" * 1_000)
    with caplog.at_level(logging.WARNING):
        async with memory_of(**place) as memory:
            assert [item.id for item in await memory.recall("tools", user="ana")] == before
            await settle(memory)
            assert [item.id for item in await memory.recall("tools", user="ana")] == before
            assert (await memory.doctor()).healthy
    assert damage == "deleted" or "built anew from the ledger" in caplog.text


async def test_a_damaged_ledger_is_refused_with_the_way_back_named(tmp_path: Path) -> None:
    async with memory_of(tmp_path / "memory") as memory:
        await memory.add("I use Shram", user="ana")
        made = await memory.snapshot(tmp_path / "backups")
    ledger = tmp_path / "memory" / "ledger.db"
    ledger.write_bytes(b"\0" * 100 + ledger.read_bytes()[100:])
    with pytest.raises(LedgerCorrupt, match=f"commonplace restore {made.name} --from {tmp_path}/backups --into"):
        async with memory_of(tmp_path / "memory"):
            pass
    ledger.with_name("ledger.db.snapshots").unlink()
    with pytest.raises(LedgerCorrupt, match="no snapshot of it is known"):
        async with memory_of(tmp_path / "memory"):
            pass
