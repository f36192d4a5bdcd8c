"""Nothing acknowledged is lost and nothing half-written is seen, whatever happens to the processes that write."""

import asyncio
import multiprocessing
import random
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import NamedTuple

import pytest

from commonplace.adapters.sqlite import SqliteLedger
from commonplace.domain.values import FactId, MessageId
from tests.faults.ledger_writer import USER, main

KILLS = 50
STEPS = {"learned": (1, False), "ended": (2, False), "retracted": (2, True)}
"""After each step: the version of the fact, and whether it is retracted."""

Said = tuple[str, str]

# The children are forked from a process that has imported everything: starting Python 70 times would take a minute.
processes = multiprocessing.get_context("forkserver")
processes.set_forkserver_preload(["tests.faults.ledger_writer"])


class Writer(NamedTuple):
    process: BaseProcess
    said: Connection

    def hear(self) -> Said:
        step, name = self.said.recv()
        return step, name

    def kill(self) -> Sequence[Said]:
        """Kill it with SIGKILL. Returns what it had said and nobody had heard yet."""
        self.process.kill()
        self.process.join()
        unheard: list[Said] = []
        try:
            while True:
                unheard.append(self.hear())
        except EOFError:
            return unheard


@contextmanager
def writer(path: Path, name: str, *, file_size_limit: int | None = None) -> Iterator[Writer]:
    said, say = processes.Pipe(duplex=False)
    process = processes.Process(target=main, args=(path, name, say, file_size_limit))
    process.start()
    say.close()
    with said:
        try:
            yield Writer(process, said)
        finally:
            process.kill()
            process.join()


def acknowledged(said: Sequence[Said]) -> dict[str, str]:
    """Return the last step that was acknowledged for each name."""
    assert [name for step, name in said if step == "not seen"] == []
    return {name: step for step, name in said if step in STEPS}


async def assert_kept(path: Path, last_steps: dict[str, str]) -> None:
    """Every acknowledged step is there; the one after it may be too, as a whole."""
    async with SqliteLedger(path) as ledger:
        facts = await ledger.facts_by_id(USER, [FactId(f"f-{name}") for name in last_steps])
        for name, step in last_steps.items():
            fact = facts[FactId(f"f-{name}")]
            assert (fact.version, fact.retracted_at is not None) >= STEPS[step]
            assert fact.sources == (f"m-{name}",)
            assert fact.text == (f"uses {name}" if fact.version == 1 else f"used {name}")
        ids = [MessageId(f"m-{name}") for name in last_steps]
        assert set(await ledger.messages_by_id(USER, ids)) == set(ids)
        assert await ledger.check() == []


def assert_nothing_half_written(path: Path) -> None:
    connection = sqlite3.connect(path)
    half = {
        "a message without its passages and vectors": """
            select id from messages m where
                (select count(*) from passages p join vectors v on v.row = p.row where p.first = m.row)
                <> case when id like 'm-%' then 2 else 1 end""",
        "a fact without its source": """
            select id from facts f where not exists (select 1 from fact_sources s where s.fact = f.first)""",
        "a version without its history": """
            select id from facts f where not exists
                (select 1 from fact_history h where h.fact = f.first and h.version = f.version)""",
        "a second version without what ended the first": """
            select f.id from facts f join facts g on g.first = f.first and g.version = 1
            where f.version = 2 and (g.retracted_at is null
                or not exists (select 1 from fact_sources s where s.fact = f.first and s.role = 'ended'))""",
        "a row stamped after the version of its partition": """
            select row from passages where changed & 0xffffffff > (select version from partitions)""",
    }
    found = {name: connection.execute(sql).fetchall() for name, sql in half.items()}
    intact = connection.execute("pragma integrity_check").fetchall()
    connection.close()
    assert {name: rows for name, rows in found.items() if rows} == {}
    assert intact == [("ok",)]


async def test_fifty_kills_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "memory" / "ledger.db"
    chance = random.Random(7)
    said: list[Said] = []
    for kill in range(KILLS):
        with writer(path, f"k{kill}") as child:
            said += [child.hear() for _ in range(chance.randrange(20))]
            await asyncio.sleep(chance.uniform(0, 0.01))
            said += child.kill()
    last_steps = acknowledged(said)
    assert len(last_steps) > KILLS
    assert_nothing_half_written(path)
    await assert_kept(path, last_steps)


async def test_a_process_that_is_killed_while_it_creates_the_database_leaves_one_that_opens(tmp_path: Path) -> None:
    chance = random.Random(7)
    for n in range(10):
        path = tmp_path / str(n) / "ledger.db"
        with writer(path, "k") as child:
            await asyncio.to_thread(wait_for, path)
            await asyncio.sleep(chance.uniform(0, 0.02))
            child.kill()
        async with SqliteLedger(path) as ledger:
            assert await ledger.check() == []


def wait_for(path: Path) -> None:
    while not path.exists():
        time.sleep(0.0005)


async def test_a_full_disk_is_reported_and_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    with writer(path, "full", file_size_limit=3_000_000) as child:
        said = [child.hear()]
        while said[-1][0] != "unavailable":
            said.append(await asyncio.to_thread(child.hear))
    assert "ledger.db" in said[-1][1]
    last_steps = acknowledged(said)
    assert last_steps
    assert_nothing_half_written(path)
    await assert_kept(path, last_steps)


async def test_several_processes_open_a_new_folder_at_once(tmp_path: Path) -> None:
    path = tmp_path / "new" / "ledger.db"
    with writer(path, "a") as a, writer(path, "b") as b, writer(path, "c") as c:
        opened = {child.hear() for child in (a, b, c)}
    (said,) = opened
    assert said[0] == "open"


@pytest.mark.parametrize("kill_first", [False, True])
async def test_two_processes_that_write_and_read_see_each_other(tmp_path: Path, kill_first: bool) -> None:
    path = tmp_path / "ledger.db"
    said: list[Said] = []
    with writer(path, "one") as one, writer(path, "two") as two:
        async with SqliteLedger(path) as ledger:
            for child in (one, two) * 40:
                step, name = await asyncio.to_thread(child.hear)
                said.append((step, name))
                if step in STEPS:
                    fact = (await ledger.facts_by_id(USER, [FactId(f"f-{name}")]))[FactId(f"f-{name}")]
                    assert (fact.version, fact.retracted_at is not None) >= STEPS[step]
            if kill_first:
                said += one.kill()
            said += [await asyncio.to_thread(two.hear) for _ in range(20)]
        for child in (one, two):
            said += child.kill()
    last_steps = acknowledged(said)
    assert {step for step, _ in said} <= {"open", *STEPS}
    assert {name.split("-")[0] for name in last_steps} == {"one", "two"}
    assert_nothing_half_written(path)
    await assert_kept(path, last_steps)
