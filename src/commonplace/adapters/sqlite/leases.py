"""Leases and turns: who does what one of many processes does, and when it is due again."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import TypeVar

from commonplace.adapters.sqlite.columns import Connection
from commonplace.domain.times import from_micros, to_micros
from commonplace.ports.leases import Lease

T = TypeVar("T")


class SqliteLeasing(ABC):
    @abstractmethod
    async def _read(self, work: Callable[[Connection], T]) -> T: ...

    @abstractmethod
    async def _write(self, work: Callable[[Connection], T]) -> T: ...

    async def take_lease(self, duty: str, *, holder: str, now: datetime, seconds: float) -> bool:
        return await self._write(partial(take, duty=duty, holder=holder, now=now, seconds=seconds))

    async def end_lease(self, duty: str, *, holder: str) -> None:
        await self._write(partial(end, duty=duty, holder=holder))

    async def leases(self, *, now: datetime) -> Sequence[Lease]:
        return await self._read(partial(held, now=now))

    async def next_turn(self, chore: str) -> datetime | None:
        return await self._read(partial(next_turn, chore=chore))

    async def set_turn(self, chore: str, *, at: datetime) -> None:
        await self._write(partial(set_turn, chore=chore, at=at))


def take(connection: Connection, *, duty: str, holder: str, now: datetime, seconds: float) -> bool:
    length = timedelta(seconds=seconds)
    taken = connection.execute(
        "insert into leases values (?1, ?2, ?3) on conflict (duty) do update set holder = ?2, until = ?3"
        " where holder = ?2 or until <= ?4 or until > ?5",
        (duty, holder, to_micros(now + length), to_micros(now), to_micros(now + 2 * length)),
    )
    return taken.rowcount == 1


def end(connection: Connection, *, duty: str, holder: str) -> None:
    connection.execute("delete from leases where duty = ? and holder = ?", (duty, holder))


def held(connection: Connection, *, now: datetime) -> Sequence[Lease]:
    rows = connection.execute("select duty, holder, until from leases where until > ? order by duty", (to_micros(now),))
    return [Lease(duty=duty, holder=holder, until=from_micros(until)) for duty, holder, until in rows]


def next_turn(connection: Connection, *, chore: str) -> datetime | None:
    row = connection.execute("select next_at from turns where chore = ?", (chore,)).fetchone()
    return None if row is None else from_micros(row[0])


def set_turn(connection: Connection, *, chore: str, at: datetime) -> None:
    connection.execute("insert or replace into turns values (?, ?)", (chore, to_micros(at)))
