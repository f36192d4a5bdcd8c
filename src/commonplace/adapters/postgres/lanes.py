"""Runs transactions on the connections of a pool, and again where that is safe.

A read, or a write that the server undid, may simply be repeated. A write whose connection broke while it was being
committed is looked up by its transaction's number on another connection, so that it is known whether it happened.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

from psycopg import OperationalError, errors, sql
from psycopg_pool import AsyncConnectionPool

from commonplace.adapters.postgres.columns import Connection, text_column
from commonplace.adapters.postgres.database import Database

T = TypeVar("T")
Work = Callable[[Connection], Awaitable[T]]

UNDONE = (errors.SerializationFailure, errors.DeadlockDetected)
GOING_DOWN = (errors.AdminShutdown, errors.CrashShutdown, errors.CannotConnectNow, errors.DatabaseDropped)
READING = sql.SQL("begin isolation level repeatable read read only")
WRITING = sql.SQL("begin")

FIRST_PAUSE = 0.02
LONGEST_PAUSE = 1.0


class Lanes:
    def __init__(self, pool: AsyncConnectionPool[Connection], database: Database) -> None:
        self._pool, self._database = pool, database

    async def read(self, work: Work[T], *, tenant: str | None) -> T:
        """Run `work` on what the database holds at one moment. It is run again if the connection is lost.

        It sees the rows of this tenant; of every tenant if None is named.
        """
        patience = _Patience(self._database.patience)
        while True:
            try:
                async with self._connection() as connection:
                    await _begin(connection, READING, tenant)
                    return await work(connection)
            except OperationalError as error:
                await self._recover(error, patience)

    async def ask(self, work: Work[T]) -> T:
        """Run `work`, one statement that says itself whose rows it reads, without the round trips of a transaction."""
        patience = _Patience(self._database.patience)
        while True:
            try:
                async with self._connection() as connection:
                    return await work(connection)
            except OperationalError as error:
                await self._recover(error, patience)

    async def write(self, work: Work[T], *, tenant: str | None) -> T:
        """Run `work` in a transaction. It is committed on return, and undone if `work` raises."""
        patience = _Patience(self._database.patience)
        while True:
            committing = ""
            try:
                async with self._connection() as connection:
                    number = await _begin(connection, WRITING, tenant)
                    result = await work(connection)
                    committing = number
                    await connection.commit()
                    return result
            except OperationalError as error:
                await self._recover(error, patience)
                if committing and await self._was_committed(committing):
                    return result

    async def run_alone(self, work: Work[T]) -> T:
        """Run `work` outside of a transaction, once, for as long as it takes. It sees the rows of every tenant."""
        async with self._connection() as connection:
            await connection.execute(
                "select set_config('statement_timeout', '0', false),"
                " set_config('commonplace.every_tenant', 'on', false)"
            )
            try:
                return await work(connection)
            finally:
                await self._database.configure(connection)

    @asynccontextmanager
    async def _connection(self) -> AsyncIterator[Connection]:
        async with self._pool.connection() as connection:
            yield connection

    async def _recover(self, error: OperationalError, patience: "_Patience") -> None:
        """Return when it makes sense to try again. Raises the error if it would come again, or has for too long."""
        undone = isinstance(error, UNDONE)
        if not undone and not _is_lost(error):
            raise error
        await patience.wait(error)
        if not undone:
            await self._pool.check()

    async def _was_committed(self, number: str) -> bool:
        """Look a transaction up whose end was not seen. The server may not yet have noticed that its client is gone."""
        patience = _Patience(self._database.patience)
        while True:
            try:
                async with self._connection() as connection:
                    found = await connection.execute("select pg_xact_status(%s::xid8)", (number,))
                    (status,) = await found.fetchone() or (None,)
            except OperationalError as error:
                await self._recover(error, patience)
                continue
            if status != "in progress":
                return bool(status == "committed")
            await patience.wait(OperationalError("it is not known whether the last write was committed"))


async def _begin(connection: Connection, begin: sql.SQL, tenant: str | None) -> str:
    """Begin a transaction and say whose it is, in one round trip. Returns the number of one that writes."""
    script = sql.SQL(
        "{begin}; select set_config('commonplace.tenant', {tenant}, true),"
        " set_config('commonplace.every_tenant', {all}, true), {number}"
    ).format(
        begin=begin,
        tenant=text_column(tenant or ""),
        all="on" if tenant is None else "off",
        number=sql.SQL("pg_current_xact_id()::text" if begin is WRITING else "''"),
    )
    # Text results: only then two statements go through in one piece.
    cursor = await connection.cursor().execute(script, binary=False)
    cursor.nextset()
    _, _, number = await cursor.fetchone() or ("", "", "")
    return str(number)


def _is_lost(error: OperationalError) -> bool:
    """Say whether the connection broke, or could not be had, and nothing was wrong with the statement."""
    return error.sqlstate is None or isinstance(error, GOING_DOWN)


class _Patience:
    """How long to go on trying, at growing intervals."""

    def __init__(self, seconds: float) -> None:
        self._until, self._pause = time.monotonic() + seconds, FIRST_PAUSE

    async def wait(self, error: OperationalError) -> None:
        """Wait a little. Raises the error when the time is up."""
        if time.monotonic() + self._pause > self._until:
            raise error
        await asyncio.sleep(self._pause)
        self._pause = min(self._pause * 2, LONGEST_PAUSE)
