"""A move to another ledger: whole, compared, and gone on with after it was broken off."""

import asyncio
import contextlib
import random
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
import pytest
from hypothesis import settings

from commonplace import Memory
from commonplace.care.tally import Tally
from commonplace.domain.errors import Conflict, Incompatible, InvalidInput
from commonplace.domain.moves import Moved
from commonplace.engine.engine import Engine
from commonplace.memory import AsyncMemory
from commonplace.settings import Settings
from commonplace.wiring import Location, moved, open_keys
from tests.care.folders import NOW, directions, memory_of
from tests.care.mover import main
from tests.care.test_snapshots import answers
from tests.faults.killing import killed, processes

KILLS, TIMES = (5, 20) if settings.get_current_profile_name() == "soak" else (3, 1)
processes.set_forkserver_preload(["tests.care.mover"])


@dataclass(frozen=True, slots=True)
class Move:
    source: str
    target: str

    async def __call__(self, *, in_use: bool = False) -> Moved:
        return await moved(
            Location.parse(self.source), Location.parse(self.target), {}, in_use=in_use, progress=lambda *_: None
        )

    @property
    def back(self) -> "Move":
        return Move(self.target, f"{self.source}-back")


@contextlib.asynccontextmanager
async def opened(place: str) -> AsyncIterator[Engine]:
    async with AsyncMemory.open(place, embedder=directions, index="exact") as memory:
        yield memory


async def fill(memory: AsyncMemory) -> None:
    await memory.add("I use Jxqtool and Shram as tools", user="ana", session="s1")
    await memory.add({"id": "m1", "content": "I like jxqtea"}, user="ana", session="s2", at=NOW - timedelta(days=9))
    await memory.add("I don't use Shram anymore", user="ana", session="s2")
    await memory.remember("Allergic to jxqnuts", user="ana", metadata={"stars": 3, "ü": [None, "\ud800"]})
    await memory.set_block("profile", "A jxqblock", user="ana")
    await memory.session("s1", user="ana").update({"step": 2})
    await memory.add("I use Wkbtool as a tool", user="ben")
    await memory.forget(user="ben", message=(await memory.add("Wrong, ü\0!", user="ben")).messages[0])
    await memory.hold(user="ben", reason="a lawsuit")
    await memory.add("Said by nobody")
    await (await memory.beside("other")).add("I use Wkbtool as a tool", user="ana")


@pytest.fixture(params=["sqlite", "postgresql"])
async def move(tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Move]:
    monkeypatch.setenv("COMMONPLACE_HOME", str(tmp_path / "files-of-postgresql"))
    source = str(tmp_path / "memory")
    async with AsyncMemory.open(source, embedder=directions, index="exact") as memory:
        await fill(memory)
    target = str(tmp_path / "moved")
    if request.param == "postgresql":
        target = request.getfixturevalue("postgres_database")
    yield Move(source, target)


async def test_what_was_moved_gives_the_same_answers_and_moves_back_the_same(move: Move, tmp_path: Path) -> None:
    done = await move()
    assert (done.users, done.counts["messages"], done.counts["holds"], done.resumed) == (4, 6, 1, False)
    async with opened(move.source) as before, opened(move.target) as after:
        for user in ("ana", "ben"):
            assert await answers(after, user) == await answers(before, user)
            assert await after.receipts(user=user) == await before.receipts(user=user)
        assert [block.text for block in await after.blocks(user="ana")] == ["A jxqblock"]
        assert await after.session("s1", user="ana").get() == {"step": 2}
        assert [hold.user for hold in await after.holds()] == ["ben"]
        assert (await after.doctor()).healthy
    back = await move.back()
    assert (back.counts, back.users) == (done.counts, done.users)


async def test_a_target_that_holds_something_is_refused_and_left_alone(move: Move, tmp_path: Path) -> None:
    async with opened(move.target) as other:
        await other.add("I am here", user="u")
    with pytest.raises(InvalidInput, match="holds something already; expected an empty one"):
        await move()
    async with opened(move.target) as other:
        assert [message.text for message in await other.messages(user="u")] == ["I am here"]
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "letter.txt").touch()
    with pytest.raises(InvalidInput, match="is there already; expected a new or an empty folder"):
        await Move(move.source, str(tmp_path / "files"))()


async def test_a_source_that_is_not_there_or_is_the_target_is_refused(move: Move, tmp_path: Path) -> None:
    nowhere = tmp_path / "nowhere"
    for source in (str(nowhere), f"sqlite:///{nowhere}/ledger.db"):
        with pytest.raises(InvalidInput, match="there is no memory; expected one to move"):
            await Move(source, move.target)()
    assert not nowhere.exists()
    for again in (move.source, f"sqlite:///{move.source}/ledger.db"):
        with pytest.raises(InvalidInput, match="expected two"):
            await Move(move.source, again)()


async def test_a_database_without_a_memory_is_no_source_and_is_left_alone(
    postgres_database: str, tmp_path: Path
) -> None:
    with pytest.raises(InvalidInput, match=r"postgresql://.*: there is no memory in it; expected a database that has"):
        await Move(postgres_database, str(tmp_path / "moved"))()
    with psycopg.connect(postgres_database) as connection:
        assert connection.execute("select count(*) from pg_tables where schemaname = 'public'").fetchone() == (0,)
    assert not (tmp_path / "moved").exists()


async def test_a_name_that_the_target_cannot_keep_is_told_with_its_user(tmp_path: Path, postgres_database: str) -> None:
    chance, source = random.Random(1), tmp_path / "memory"
    async with opened(str(source)) as memory:
        await memory.add(
            "Hello", user="ana", session="".join(chr(chance.randrange(0x10000, 0x20000)) for _ in range(999))
        )
    with pytest.raises(
        InvalidInput, match="a record of user 'ana' of tenant 'default' cannot be kept here: a name is too long"
    ):
        await Move(str(source), postgres_database)()


async def test_a_source_that_another_process_has_open_is_refused(move: Move, tmp_path: Path) -> None:
    async with memory_of(Path(move.source), now=datetime.now(UTC)) as running:
        tending = asyncio.create_task(running.tend())
        while not await running._parts.ledger.leases(now=datetime.now(UTC)):  # noqa: ASYNC110 - nobody is told
            await asyncio.sleep(0.01)
        with pytest.raises(Conflict, match=r"is in use by .*: stop every process that uses it"):
            await move()
        with pytest.raises(Conflict, match="is in use"):
            await Move(move.source, str(tmp_path / "new"))()
        assert not (tmp_path / "new").exists()
        tending.cancel()
        await asyncio.gather(tending, return_exceptions=True)
    assert (await move()).users == 4


async def test_a_source_that_is_written_to_meanwhile_is_noticed(move: Move) -> None:
    with Memory.open(move.source, embedder=directions, index="exact") as writer:

        def interfere(what: str, done: int, total: int | None) -> None:
            if what == "Comparing":
                writer.add("One more thing", user="carl")

        places = Location.parse(move.source), Location.parse(move.target)
        with pytest.raises(Conflict, match="was written to while it was moved: user 'carl' of tenant 'default'"):
            await moved(*places, {}, in_use=True, progress=interfere)
    with pytest.raises(Incompatible, match="is not whole"):
        async with opened(move.target):
            pass


@pytest.mark.parametrize("after", [1, 3])
async def test_a_move_that_was_killed_goes_on_when_it_is_run_again(move: Move, after: int, tmp_path: Path) -> None:
    other = str(tmp_path / "other")
    async with opened(other) as memory:
        await memory.add("I am another", user="u")
    assert not await asyncio.to_thread(killed, main, move.source, move.target, after, after=60)
    with pytest.raises(Incompatible, match="is not whole .*: run that to its end"):
        async with opened(move.target):
            pass
    with pytest.raises(InvalidInput, match="is not whole"):
        await move.back()
    with pytest.raises(Incompatible, match=f"is not whole .*a move from {move.source}"):
        async with open_keys(Settings.from_sources(**Location.parse(move.target).settings())):
            pass
    with pytest.raises(InvalidInput, match=f"holds a part of something else .*a move from {move.source}"):
        await Move(other, move.target)()
    done = await Move(f"sqlite:///{move.source}/ledger.db", move.target)()  # the same under another name
    assert done.resumed
    async with opened(move.source) as before, opened(move.target) as there:
        assert await answers(there, "ana") == await answers(before, "ana")


async def test_a_move_that_was_killed_after_its_last_step_finds_everything_there_when_it_is_run_again(
    move: Move,
) -> None:
    first = await move()
    again = await move()
    assert again.resumed
    assert (again.counts, again.users, again.sha256) == (first.counts, first.users, first.sha256)
    async with opened(move.target) as there:
        await there.add("One more thing", user="carl")
    with pytest.raises(InvalidInput, match="holds something already"):
        await move()


async def held(place: str) -> Tally:
    tally = Tally()
    async with opened(place) as memory:
        async for batch in memory._parts.ledger.read_archive():
            tally.add(batch)
        assert (await memory.doctor()).healthy
    return tally


@pytest.mark.parametrize("seed", range(TIMES))
async def test_there_and_back_killed_at_any_moment_everything_arrives(move: Move, seed: int) -> None:
    chance = random.Random(seed)
    async with opened(move.source) as memory:
        await memory.add([f"I saw bird {number} in the garden" for number in range(700)], user="carl")
    before = await held(move.source)
    for leg in (move, move.back):
        for _ in range(KILLS):
            if await asyncio.to_thread(killed, main, leg.source, leg.target, after=chance.uniform(0, 0.3)):
                break  # it was faster
        else:
            await leg()
        after = await held(leg.target)
        assert before.differing(after) == []
        assert (after.counts, after.counts["messages"]) == (before.counts, 706)
