"""kill -9 while a schema is made or upgraded: the next opening does it, and counts and hashes say that all is there."""

import asyncio
import random
import shutil
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from commonplace.care.tally import Tally
from commonplace.ports.ledger import Ledger
from tests.backends import Backend
from tests.care.folders import memory_of
from tests.faults.killing import killed, processes
from tests.faults.upgrader import ledger, main

pytestmark = pytest.mark.backends("ledgers")

KILLS = 60 if settings.get_current_profile_name() == "soak" else 3
SLOW = {
    "sqlite": "with recursive up(x) as (select 1 union all select x + 1 from up where x < {n}) select max(x) from up",
    "postgres": "select max(x) from generate_series(1, {n}) x",
}
UPGRADE = """
create table copies_{number} as select * from messages;
create table while_{number} as {slow};
create index messages_{number} on messages (id);
create table facts_{number} as select * from facts;
"""
"""Whatever of it were there already, if it had been done by halves, would be in the way of who does it again."""
processes.set_forkserver_preload(["tests.faults.upgrader"])


def later(folder: Path, engine: str, *, number: int) -> Path:
    """Return the shipped migrations with those of so many later versions."""
    shipped = resources.files(f"commonplace.adapters.{engine}").joinpath("migrations")
    with resources.as_file(shipped) as files:
        shutil.copytree(files, folder, dirs_exist_ok=True)
    for one in range(number):
        sql = UPGRADE.format(number=one, slow=SLOW[engine].format(n=300_000))
        (folder / f"{9_000 + one}_later.sql").write_text(sql)
    return folder


async def held(ledger: Ledger) -> tuple[str, dict[str, int]]:
    tally = Tally()
    async for batch in ledger.read_archive():
        tally.add(batch)
    return tally.sha256(), dict(tally.counts)


async def test_an_upgrade_that_is_killed_at_any_moment_is_made_by_the_next_opening(
    shared_backend: Backend, tmp_path: Path
) -> None:
    backend = shared_backend  # with a database of its own: nobody else can open it in the end
    place: dict[str, Any] = backend.at(tmp_path / "memory")
    async with memory_of(**place) as memory:
        await memory.add([f"I use tool{number} for the garden" for number in range(30)], user="ana", session="s1")
    async with backend.open_ledger(tmp_path / "memory") as shipped:
        before = await held(shipped)
    assert before[1]["messages"] == 30
    chance = random.Random(8)
    for number in range(1, KILLS + 1):
        migrations = later(tmp_path / "migrations", backend.ledger, number=number)
        await asyncio.to_thread(killed, main, place, migrations, after=chance.uniform(0, 0.3))
        async with ledger(place, migrations) as upgraded:
            assert await held(upgraded) == before


async def test_a_schema_whose_making_is_killed_at_any_moment_is_made_by_the_next_opening(
    shared_backend: Backend, tmp_path: Path
) -> None:
    chance = random.Random(9)
    migrations = later(tmp_path / "migrations", shared_backend.ledger, number=0)
    for number in range(KILLS):
        place: dict[str, Any] = shared_backend.at(tmp_path / f"memory-{number}")
        await asyncio.to_thread(killed, main, place, migrations, after=chance.uniform(0, 0.1))
        async with memory_of(**place) as memory:
            await memory.add("I use Shram as a tool", user="ana")
            assert [fact.value for fact in await memory.facts(user="ana")] == ["Shram"]
            assert (await memory.doctor()).healthy
