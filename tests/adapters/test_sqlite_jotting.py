"""Short writes on the thread of the event loop: only one that is alone, on a quick disk, with nobody to wait for."""

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from itertools import pairwise
from pathlib import Path

import pytest

from commonplace.adapters.sqlite import SqliteLedger
from commonplace.adapters.sqlite.columns import Connection
from commonplace.adapters.sqlite.jotting import IN_A_ROW, QUICK, SHORT, Jotter, is_short
from commonplace.adapters.sqlite.lanes import Lane
from commonplace.domain.errors import Closed, LedgerUnavailable
from commonplace.domain.scope import Scope
from commonplace.domain.values import MessageId
from commonplace.ports.ledger import Change
from tests.contracts.ledger.values import a_fact, added, closed, new_version

ANA = Scope("acme", "ana")


class Disk:
    """A clock by which every transaction takes as long as the test says."""

    def __init__(self, *, seconds: float) -> None:
        self.seconds = seconds
        self._now = 0.0

    def __call__(self) -> float:
        self._now += self.seconds
        return self._now


def connect(path: Path) -> Connection:
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=30)
    connection.execute("pragma journal_mode = wal")
    connection.execute("create table if not exists numbers (n integer primary key)")
    return connection


@asynccontextmanager
async def opened(path: Path, disk: Disk) -> AsyncIterator[Jotter]:
    def translate(error: Exception) -> Exception:
        return LedgerUnavailable(str(error)) if isinstance(error, sqlite3.Error) else error

    lane = Lane(lambda: connect(path), begin="begin immediate", group=64, translate=translate, clock=disk)
    jotter = Jotter(lambda: connect(path), lane, translate=translate, clock=disk)
    yield jotter
    await jotter.aclose()
    await lane.stop()


def insert(n: int) -> Callable[[Connection], bool]:
    """Return what writes a number, and says whether it did so on the thread of the event loop."""
    here = threading.get_ident()

    def work(connection: Connection) -> bool:
        connection.execute("insert into numbers values (?)", (n,))
        return threading.get_ident() == here

    return work


def held(path: Path) -> list[int]:
    connection = connect(path)
    numbers = [n for (n,) in connection.execute("select n from numbers order by n")]
    connection.close()
    return numbers


def test_a_write_of_many_rows_is_not_short_whatever_they_are() -> None:
    def numbered(count: int) -> list[str]:
        return [f"n{n}" for n in range(count)]

    for count, short in ((SHORT, True), (SHORT + 1, False)):
        versions = [new_version(a_fact(name)) for name in numbered(count)]
        ended = [closed(name) for name in numbered(count)]
        changes = [added(*numbered(count)), Change(versions=versions), Change(closed=ended)]
        assert [is_short([change]) for change in changes] == [short] * 3
    assert not is_short([added("m1")] * (SHORT + 1)), "together"


async def test_a_write_that_is_alone_is_done_at_once_when_one_was_seen_to_be_quick(tmp_path: Path) -> None:
    async with opened(tmp_path / "n.db", Disk(seconds=QUICK / 2)) as jotter:
        assert [await jotter.run(insert(n)) for n in range(4)] == [False, True, True, True]
    assert held(tmp_path / "n.db") == [0, 1, 2, 3]


async def test_writes_that_come_together_go_to_the_thread(tmp_path: Path) -> None:
    async with opened(tmp_path / "n.db", Disk(seconds=QUICK / 2)) as jotter:
        await jotter.run(insert(0))
        assert not any(await asyncio.gather(*(jotter.run(insert(n)) for n in range(1, 20))))
        assert await jotter.run(insert(20))
    assert held(tmp_path / "n.db") == list(range(21))


async def test_a_slow_disk_is_waited_for_on_the_thread_until_it_is_quick_again(tmp_path: Path) -> None:
    disk = Disk(seconds=QUICK / 2)
    async with opened(tmp_path / "n.db", disk) as jotter:
        assert [await jotter.run(insert(n)) for n in range(2)] == [False, True]
        disk.seconds = 50 * QUICK
        assert await jotter.run(insert(2)), "nobody knows it yet"
        assert not await jotter.run(insert(3))
        disk.seconds = QUICK / 2
        went = [await jotter.run(insert(n)) for n in range(4, 104)]
    assert went[0] is False
    assert went[-1] is True
    assert sum(one != two for one, two in pairwise(went[:IN_A_ROW])) <= 1, "once it is quick, it stays so"


async def test_a_slow_write_now_and_then_is_the_machine_s(tmp_path: Path) -> None:
    disk = Disk(seconds=QUICK / 2)
    async with opened(tmp_path / "n.db", disk) as jotter:
        went = []
        for n in range(30):
            disk.seconds = 5 * QUICK if n % 4 == 3 else QUICK / 2
            went.append(await jotter.run(insert(n)))
    assert went == [False] + [True] * 29


async def test_a_write_waits_for_another_process_on_the_thread(tmp_path: Path) -> None:
    path = tmp_path / "n.db"
    async with opened(path, Disk(seconds=QUICK / 2)) as jotter:
        await jotter.run(insert(0))
        other = connect(path)
        other.execute("begin immediate")
        waiting = asyncio.create_task(jotter.run(insert(1)))
        await asyncio.sleep(0.05)
        assert not waiting.done(), "and the event loop went on"
        other.execute("insert into numbers values (7)")
        other.execute("commit")
        other.close()
        assert await waiting is False
    assert held(path) == [0, 1, 7]


async def test_what_fails_leaves_nothing_and_is_told_in_our_words(tmp_path: Path) -> None:
    def half(connection: Connection) -> None:
        connection.execute("insert into numbers values (5)")
        raise LookupError("on purpose")

    async with opened(tmp_path / "n.db", Disk(seconds=QUICK / 2)) as jotter:
        await jotter.run(insert(0))
        with pytest.raises(LookupError, match="on purpose"):
            await jotter.run(half)
        with pytest.raises(LedgerUnavailable, match="UNIQUE"):
            await jotter.run(insert(0))
        assert await jotter.run(insert(1))
    assert held(tmp_path / "n.db") == [0, 1]


async def test_a_write_that_is_cancelled_before_its_turn_is_not_done(tmp_path: Path) -> None:
    async with opened(tmp_path / "n.db", Disk(seconds=QUICK / 2)) as jotter:
        await jotter.run(insert(0))
        task = asyncio.create_task(jotter.run(insert(1)))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await jotter.run(insert(2)), "it is not counted as under way any more"
    assert held(tmp_path / "n.db") == [0, 2]


async def test_closing_waits_for_a_write_that_has_not_had_its_turn(tmp_path: Path) -> None:
    async with SqliteLedger(tmp_path / "ledger.db", clock=Disk(seconds=QUICK / 2)) as ledger:
        await ledger.write(ANA, added("m1"))
        late = asyncio.create_task(ledger.write(ANA, added("m2")))
        await asyncio.sleep(0)
    assert late.done(), "the ledger is closed, and so is this"
    with pytest.raises(Closed):
        await ledger.write(ANA, added("m3"))
    async with SqliteLedger(tmp_path / "ledger.db") as ledger:
        assert set(await ledger.messages_by_id(ANA, [MessageId(f"m{n}") for n in (1, 2, 3)])) == {"m1", "m2"}


async def test_others_get_their_turn_between_two_writes(tmp_path: Path) -> None:
    turns = 0

    async def other() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    async with opened(tmp_path / "n.db", Disk(seconds=QUICK / 2)) as jotter:
        await jotter.run(insert(0))
        task = asyncio.create_task(other())
        for n in range(1, 11):
            assert await jotter.run(insert(n))
        task.cancel()
    assert turns >= 10


async def test_the_log_does_not_grow_without_end(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    async with SqliteLedger(path, clock=Disk(seconds=QUICK / 2)) as ledger:
        for n in range(600):
            await ledger.write(ANA, added(f"m{n}"))
        assert path.with_name("ledger.db-wal").stat().st_size < 10 << 20, "it is moved into the database now and then"
