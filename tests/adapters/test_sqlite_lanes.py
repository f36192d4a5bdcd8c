"""What happens to the others when one of several writes in a transaction goes wrong."""

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from commonplace.adapters.sqlite.columns import Connection
from commonplace.adapters.sqlite.lanes import Lane


@pytest.fixture
async def lane(tmp_path: Path) -> AsyncIterator[Lane]:
    def connect() -> Connection:
        connection = sqlite3.connect(tmp_path / "numbers.db", isolation_level=None, check_same_thread=False)
        connection.execute("create table if not exists numbers (n integer primary key)")
        return connection

    lane = Lane(connect, begin="begin immediate", group=64, translate=lambda error: error)
    yield lane
    await lane.stop()


def insert(n: int) -> Callable[[Connection], int]:
    def work(connection: Connection) -> int:
        connection.execute("insert into numbers values (?)", (n,))
        return n

    return work


def fail(connection: Connection) -> int:
    connection.execute("insert into numbers values (99)")
    raise LookupError("on purpose")


def lose_the_transaction(connection: Connection) -> int:
    """What SQLite does by itself when the disk is full."""
    connection.execute("rollback")
    raise sqlite3.OperationalError("database or disk is full")


async def numbers(lane: Lane) -> list[int]:
    return await lane.run(lambda connection: [n for (n,) in connection.execute("select n from numbers order by n")])


async def together(lane: Lane, *works: Callable[[Connection], int]) -> list[int | BaseException]:
    """Queue them while the thread is busy, so that it takes them as one group."""
    started, go_on = threading.Event(), threading.Event()

    def keep_busy(_: Connection) -> None:
        started.set()
        go_on.wait()

    busy = asyncio.create_task(lane.run(keep_busy))
    await asyncio.to_thread(started.wait)
    tasks = [asyncio.create_task(lane.run(work)) for work in works]
    await asyncio.sleep(0)
    go_on.set()
    await busy
    return await asyncio.gather(*tasks, return_exceptions=True)


async def test_one_failure_in_a_group_is_its_own(lane: Lane) -> None:
    one, two, three = await together(lane, insert(1), fail, insert(2))
    assert (one, type(two), three) == (1, LookupError, 2)
    assert await numbers(lane) == [1, 2]


async def test_a_lost_transaction_fails_everybody_who_was_in_it(lane: Lane) -> None:
    results = await together(lane, insert(1), lose_the_transaction, insert(2))
    assert [type(result) for result in results] == [sqlite3.OperationalError] * 3
    assert await numbers(lane) == []
    await lane.run(insert(5))
    assert await numbers(lane) == [5]


async def test_a_connection_that_cannot_be_made_is_tried_again() -> None:
    attempts: list[int] = []

    def connect() -> Connection:
        attempts.append(1)
        if len(attempts) == 1:
            raise OSError("not yet")
        return sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)

    lane = Lane(connect, begin="begin", translate=lambda error: ValueError(str(error)))
    with pytest.raises(ValueError, match="not yet"):
        await lane.run(lambda connection: None)
    assert await lane.run(lambda connection: connection.execute("select 7").fetchone()) == (7,)
    await lane.stop()
