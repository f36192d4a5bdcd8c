"""Leases and turns: who does what one of many processes does, and when it is due again."""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import TypeVar

from commonplace.adapters.postgres.columns import Connection
from commonplace.domain.times import from_micros, to_micros
from commonplace.ports.leases import Lease

T = TypeVar("T")


class PostgresLeasing(ABC):
    @abstractmethod
    async def _read(self, work: Callable[[Connection], Awaitable[T]], *, tenant: str | None) -> T: ...

    @abstractmethod
    async def _write(self, work: Callable[[Connection], Awaitable[T]], *, tenant: str | None) -> T: ...

    async def take_lease(self, duty: str, *, holder: str, now: datetime, seconds: float) -> bool:
        return await self._write(partial(take, duty=duty, holder=holder, now=now, seconds=seconds), tenant=None)

    async def end_lease(self, duty: str, *, holder: str) -> None:
        await self._write(partial(end, duty=duty, holder=holder), tenant=None)

    async def leases(self, *, now: datetime) -> Sequence[Lease]:
        return await self._read(partial(held, now=now), tenant=None)

    async def next_turn(self, chore: str) -> datetime | None:
        return await self._read(partial(next_turn, chore=chore), tenant=None)

    async def set_turn(self, chore: str, *, at: datetime) -> None:
        await self._write(partial(set_turn, chore=chore, at=at), tenant=None)


async def take(connection: Connection, *, duty: str, holder: str, now: datetime, seconds: float) -> bool:
    length = timedelta(seconds=seconds)
    taken = await connection.execute(
        "insert into leases (duty, holder, until) values (%s, %s, %s)"
        " on conflict (duty) do update set holder = excluded.holder, until = excluded.until"
        " where leases.holder = excluded.holder or leases.until <= %s or leases.until > %s",
        (duty, holder, to_micros(now + length), to_micros(now), to_micros(now + 2 * length)),
    )
    return taken.rowcount == 1


async def end(connection: Connection, *, duty: str, holder: str) -> None:
    await connection.execute("delete from leases where duty = %s and holder = %s", (duty, holder))


async def held(connection: Connection, *, now: datetime) -> Sequence[Lease]:
    found = await connection.execute(
        "select duty, holder, until from leases where until > %s order by duty", (to_micros(now),)
    )
    return [Lease(duty=duty, holder=holder, until=from_micros(until)) for duty, holder, until in await found.fetchall()]


async def next_turn(connection: Connection, *, chore: str) -> datetime | None:
    found = await connection.execute("select next_at from turns where chore = %s", (chore,))
    row = await found.fetchone()
    return None if row is None else from_micros(row[0])


async def set_turn(connection: Connection, *, chore: str, at: datetime) -> None:
    await connection.execute(
        "insert into turns (chore, next_at) values (%s, %s)"
        " on conflict (chore) do update set next_at = excluded.next_at",
        (chore, to_micros(at)),
    )
