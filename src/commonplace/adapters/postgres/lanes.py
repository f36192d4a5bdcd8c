"""Runs transactions on the connections of a pool, and again where that is safe.

A read, or a write that the server undid, may simply be repeated. A write whose connection broke while it was being
committed is looked up by its transaction's number on another connection, so that it is known whether it happened.
What is one statement (`ask`, `tell`) goes without the round trips of a transaction, on a connection that keeps its
tenant in between.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Literal, LiteralString, NamedTuple, TypeVar
from weakref import WeakKeyDictionary

from psycopg import InternalError, OperationalError, errors, sql

from commonplace.adapters.postgres.columns import Connection, text_column
from commonplace.adapters.postgres.connections import Connections
from commonplace.adapters.postgres.database import Database, is_lost
from commonplace.domain.errors import LedgerUnavailable

T = TypeVar("T")
Work = Callable[[Connection], Awaitable[T]]
Values = Sequence[object] | Mapping[str, object]

UNDONE = (errors.SerializationFailure, errors.DeadlockDetected)
FAILED = (OperationalError, InternalError)
"""What a connection that is lost raises, among other things."""
READING = sql.SQL("begin isolation level repeatable read read only")
WRITING = sql.SQL("begin")
WHOSE = "current_setting('commonplace.tenant', true)"
"""Whose rows a connection sees, inside a statement."""
Told = Literal["done", "refused", "unheard"]
"""It is committed; its conditions did not hold, or the server undid it; the connection broke, so nobody knows."""
_RUN: LiteralString = "extract(epoch from pg_postmaster_start_time())::text"

FIRST_PAUSE = 0.02
LONGEST_PAUSE = 1.0


class Lanes:
    def __init__(self, connections: Connections, database: Database) -> None:
        self._connections, self._database = connections, database
        self._tenants: WeakKeyDictionary[Connection, str] = WeakKeyDictionary()

    async def read(self, work: Work[T], *, tenant: str | None) -> T:
        """Run `work` on what the database holds at one moment. It is run again if the connection is lost.

        It sees the rows of this tenant; of every tenant if None is named.
        """
        patience = _Patience(self._database.patience)
        while True:
            try:
                async with self._connections.one() as connection:
                    await _begin(connection, READING, tenant)
                    return await work(connection)
            except FAILED as error:
                await self._recover(error, patience)

    async def ask(self, statement: str, values: Values, *, tenant: str) -> tuple[Any, ...]:
        """Return the one row of a statement that reads, without its last column, which has to be `WHOSE`.

        Where that says that the connection is another tenant's, for a pooler between has changed it, the statement has
        seen nothing: it is run again, in a transaction.
        """
        patience = _Patience(self._database.patience)
        while True:
            try:
                row = await self._row(statement, values, tenant=tenant)
            except FAILED as error:
                await self._recover(error, patience)
            else:
                break
        if row is None or row[-1] != text_column(tenant):
            row = await self.read(lambda connection: _one(connection, statement, values), tenant=tenant)
        return row[:-1]

    async def tell(self, statement: str, values: Values, *, tenant: str) -> Told:
        """Run a statement that writes, and commits by itself. It gives a row if it did; `WHOSE` is a condition of it.

        It is not run again here. What is refused or unheard may be done by `write`, where it makes no difference if
        it is there already.
        """
        try:
            row = await self._row(statement, values, tenant=tenant)
        except (*UNDONE, errors.UniqueViolation):
            return "refused"
        except FAILED as error:
            await self._recover(error, _Patience(self._database.patience))
            return "unheard"
        return "refused" if row is None else "done"

    async def write(self, work: Work[T], *, tenant: str | None) -> T:
        """Run `work` in a transaction. It is committed on return, and undone if `work` raises."""
        patience = _Patience(self._database.patience)
        while True:
            committing: _Begun | None = None
            try:
                async with self._connections.one() as connection:
                    begun = await _begin(connection, WRITING, tenant)
                    result = await work(connection)
                    committing = begun
                    await connection.commit()
                    return result
            except FAILED as error:
                await self._recover(error, patience)
                if committing is not None and await self._was_committed(committing):
                    return result

    async def run_alone(self, work: Work[T]) -> T:
        """Run `work` outside of a transaction, once, for as long as it takes. It sees the rows of every tenant."""
        async with self._connections.one() as connection:
            await connection.execute(
                "select set_config('statement_timeout', '0', false), set_config('plan_cache_mode', 'auto', false),"
                " set_config('enable_seqscan', 'on', false), set_config('commonplace.every_tenant', 'on', false)"
            )
            try:
                return await work(connection)
            finally:
                await self._database.configure(connection)

    async def _row(self, statement: str, values: Values, *, tenant: str) -> tuple[Any, ...] | None:
        """Run one statement on a connection of this tenant. Without a transaction there is nothing to end after it."""
        connection = await self._connections.take()
        try:
            if self._tenants.get(connection) != tenant:
                await connection.execute("select set_config('commonplace.tenant', %s, false)", (text_column(tenant),))
                self._tenants[connection] = tenant
            return await (await connection.execute(statement, values)).fetchone()
        finally:
            await self._connections.give_back(connection)

    async def _recover(self, error: Exception, patience: "_Patience") -> None:
        """Return when it makes sense to try again. Raises the error if it would come again, or has for too long."""
        undone = isinstance(error, UNDONE)
        if not undone and not is_lost(error):
            raise error
        await patience.wait(error)
        if not undone:
            await self._connections.check()

    async def _was_committed(self, begun: "_Begun") -> bool:
        """Look a transaction up whose end was not seen. The server may not yet have noticed that its client is gone.

        A server that was killed has forgotten the numbers of what it had not yet written, and gives them out again:
        `committed` may then be said of another's transaction. Raises LedgerUnavailable, for it cannot be known.
        """
        patience = _Patience(self._database.patience)
        while True:
            try:
                async with self._connections.one() as connection:
                    found = await connection.execute(f"select pg_xact_status(%s::xid8), {_RUN}", (begun.number,))
                    status, run = await found.fetchone() or (None, "")
            except FAILED as error:
                await self._recover(error, patience)
                continue
            except errors.InvalidParameterValue:  # a number that is yet to come: it was lost with the server
                return False
            if run != begun.run:
                if status == "committed":
                    raise LedgerUnavailable("the server was started anew: it is not known whether the write was kept")
                return False
            if status != "in progress":
                return bool(status == "committed")
            await patience.wait(OperationalError("it is not known whether the last write was committed"))


class _Begun(NamedTuple):
    number: str
    """Of a transaction that writes."""
    run: str
    """Of the server: another one after each start."""


async def _begin(connection: Connection, begin: sql.SQL, tenant: str | None) -> _Begun:
    """Begin a transaction and say whose it is, in one round trip."""
    script = sql.SQL(
        "{begin}; select set_config('commonplace.tenant', {tenant}, true),"
        " set_config('commonplace.every_tenant', {all}, true), set_config('plan_cache_mode', 'auto', true),"
        " set_config('enable_seqscan', 'on', true), {number}, {run}"
    ).format(
        begin=begin,
        tenant=text_column(tenant or ""),
        all="on" if tenant is None else "off",
        number=sql.SQL("pg_current_xact_id()::text" if begin is WRITING else "''"),
        run=sql.SQL(_RUN),
    )
    # Text results: only then two statements go through in one piece.
    cursor = await connection.cursor().execute(script, binary=False)
    cursor.nextset()
    *_, number, run = await cursor.fetchone() or ("", "")
    return _Begun(number, run)


async def _one(connection: Connection, statement: str, values: Values) -> tuple[Any, ...]:
    row = await (await connection.execute(statement, values)).fetchone()
    assert row is not None
    return row


class _Patience:
    """How long to go on trying, at growing intervals."""

    def __init__(self, seconds: float) -> None:
        self._until, self._pause = time.monotonic() + seconds, FIRST_PAUSE

    async def wait(self, error: Exception) -> None:
        """Wait a little. Raises the error when the time is up."""
        if time.monotonic() + self._pause > self._until:
            raise error
        await asyncio.sleep(self._pause)
        self._pause = min(self._pause * 2, LONGEST_PAUSE)
