"""Open a PostgreSQL database the way the ledger wants it, bring its schema up to date, and put names to its errors."""

import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any, NamedTuple
from uuid import uuid4

import psycopg
from psycopg import AsyncConnection, AsyncCursor, errors
from psycopg.adapt import AdaptersMap
from psycopg.conninfo import conninfo_to_dict
from psycopg.pq import Format
from psycopg.types.numeric import Int8BinaryDumper, Int8Dumper
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from commonplace.adapters.postgres.columns import Connection, VectorColumn, VectorDumper
from commonplace.domain.addresses import insist_on_ports
from commonplace.domain.errors import Incompatible, InvalidInput, LedgerCorrupt, LedgerTooNew, LedgerUnavailable

MIGRATIONS: Traversable = resources.files("commonplace.adapters.postgres").joinpath("migrations")
ASK_AGAIN = 2.0
"""Seconds to wait in the queue of the pool."""
ALIVE = {"keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3, "tcp_user_timeout": 25_000}
"""A server that is gone without a word, as after a failover, is noticed within half a minute, not within hours.
What the address says about it is kept."""
ENDED = (
    errors.AdminShutdown,
    errors.CrashShutdown,
    errors.CannotConnectNow,
    errors.DatabaseDropped,
    errors.IdleSessionTimeout,
    errors.IdleInTransactionSessionTimeout,
)
"""The server has ended the connection, and not for what was asked of it."""
MIGRATION_LOCK = 0x436D6E70
"""The advisory lock of who brings the schema up to date ("Cmnp")."""


class BinaryCursor(AsyncCursor[tuple[Any, ...]]):
    """Takes every result as the server has it: spelled out, vectors and terms would be twice as long."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.format = Format.BINARY


def _adapters() -> AdaptersMap:
    """One type for every int: by default it follows the value, and each mix of types would be a plan of its own."""
    adapters = AdaptersMap(psycopg.adapters)
    adapters.register_dumper(int, Int8Dumper)
    adapters.register_dumper(int, Int8BinaryDumper)
    adapters.register_dumper(VectorColumn, VectorDumper)
    return adapters


class Migration(NamedTuple):
    number: int
    name: str
    sql: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Database:
    """Where it is and how to open it."""

    url: str = field(repr=False)
    pool_size: int
    statement_timeout: float
    """Seconds that one statement may take; 0 for as long as it likes."""
    patience: float
    """Seconds to wait for a free connection, or for the server to come back."""
    migrations: Traversable = MIGRATIONS

    @property
    def where(self) -> str:
        """Its address without the name and password of who opens it."""
        try:
            parts = conninfo_to_dict(self.url)
        except psycopg.ProgrammingError as error:
            # libpq quotes what it could not decode, or all of the address, with the password: % itself is written %25.
            quotes, reason = "percent-encoded" in str(error), str(error).replace(self.url, "…").strip()
            told = "a % in it that encodes nothing; write it as %25" if quotes else reason
            raise InvalidInput(f"database_url: {told}") from None
        insist_on_ports("database_url", parts.get("port"))
        host, name = parts.get("host") or "local", parts.get("dbname") or ""
        port = f":{parts['port']}" if parts.get("port") else ""
        return f"postgresql://{host}{port}/{name}"

    @asynccontextmanager
    async def pool(self) -> AsyncIterator[AsyncConnectionPool[Connection]]:
        """Bring the schema up to date, and keep connections open. What is wrong with the address is said at once."""
        where = self.where
        async with await self.connect() as connection:
            if (encoding := connection.info.parameter_status("server_encoding")) != "UTF8":
                raise Incompatible(f"{where} keeps texts as {encoding}; expected a database with encoding 'UTF8'")
            await migrate(connection, read_migrations(self.migrations), where=where)
        async with AsyncConnectionPool(
            self.url,
            connection_class=AsyncConnection[tuple[Any, ...]],
            kwargs=self._options(),
            min_size=1,
            max_size=self.pool_size,
            # A pool that has given up to connect forgets who waits; so ask it anew now and then.
            timeout=min(self.patience, ASK_AGAIN),
            # It tries to connect again at ever longer intervals, for so long; then anew with the next call.
            reconnect_timeout=5.0,
            configure=self.configure,
            name="commonplace",
            open=False,
        ) as pool:
            yield pool

    async def has_ledger(self) -> bool:
        where = self.where
        async with await self.connect() as connection:
            return await _is_there(connection, where=where)

    async def connect(self) -> Connection:
        connection = await AsyncConnection.connect(self.url, **self._options())
        await self.configure(connection)
        return connection

    def _options(self) -> dict[str, Any]:
        return {
            **{name: value for name, value in ALIVE.items() if name not in conninfo_to_dict(self.url)},
            "autocommit": True,
            "context": _AdaptContext(),
            "cursor_factory": BinaryCursor,
            "connect_timeout": max(2, round(self.patience)),
            "application_name": "commonplace",
            "client_encoding": "UTF8",  # whatever is set for the role
        }

    async def configure(self, connection: Connection) -> None:
        # Outside of transactions there are a few short statements by key: to plan one anew takes longer than to run it,
        # and a plan that is kept must not read whole tables because they were empty when it was made.
        await connection.execute(
            "select set_config('statement_timeout', %s, false), set_config('client_min_messages', 'warning', false),"
            " set_config('plan_cache_mode', 'force_generic_plan', false), set_config('enable_seqscan', 'off', false),"
            " set_config('commonplace.every_tenant', 'off', false),"
            # A schema of its own need not be the one that pgvector was created in.
            " (select set_config('search_path', concat_ws(', ', nullif(current_setting('search_path'), ''),"
            "  quote_ident(nspname)), false) from pg_extension join pg_namespace s on s.oid = extnamespace"
            "  where extname = 'vector' and nspname <> all (current_schemas(true)) and current_schema() is not null)",
            (str(round(self.statement_timeout * 1000)),),
        )

    @contextmanager
    def in_our_words(self) -> Iterator[None]:
        """Raise the errors of the server as errors of the domain. A bug of ours passes as it is."""
        try:
            yield
        except Exception as error:
            translated = self._translate(error)
            if translated is None:
                raise
            raise translated from error

    def _translate(self, error: Exception) -> Exception | None:
        match error:
            case errors.ProgramLimitExceeded():
                return InvalidInput(f"a name is too long for an index of PostgreSQL: {_first_line(error)}")
            case errors.DataCorrupted() | errors.IndexCorrupted():
                return LedgerCorrupt(f"{self.where}: {_first_line(error)}")
            case errors.QueryCanceled():
                return LedgerUnavailable(f"{self.where}: no answer within {self.statement_timeout:g} s")
            case PoolTimeout():
                return LedgerUnavailable(f"{self.where}: no connection within {self.patience:g} s")
            case psycopg.OperationalError() | errors.ReadOnlySqlTransaction() | errors.InsufficientPrivilege():
                return LedgerUnavailable(f"{self.where}: {_first_line(error)}")
            case psycopg.InternalError() if is_lost(error) or isinstance(error, errors.TransactionTimeout):
                return LedgerUnavailable(f"{self.where}: {_first_line(error)}")
            case OSError():
                return LedgerUnavailable(f"{self.where}: {error}")
            case _:
                return None


def is_lost(error: Exception) -> bool:
    """Say whether the connection broke, or could not be had, and nothing was wrong with the statement.

    The driver's own errors have no number, such as that the answer to a COMMIT came together with the word that the
    server goes down. Those of a pooler between have one of class 08, which is about connections.
    """
    if not isinstance(error, (psycopg.OperationalError, psycopg.InternalError)):
        return False
    return error.sqlstate is None or error.sqlstate.startswith("08") or isinstance(error, ENDED)


class _AdaptContext:
    """What psycopg asks for when it is to take over adapters: an object that has them."""

    def __init__(self) -> None:
        self.adapters = _adapters()
        self.connection = None


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]


def read_migrations(folder: Traversable) -> Sequence[Migration]:
    """Read files named NNNN_name.sql, in the order of their numbers."""
    files = (file for file in folder.iterdir() if file.name.endswith(".sql"))
    return sorted(
        Migration(int(file.name[:4]), file.name[5:].removesuffix(".sql"), file.read_text("utf-8")) for file in files
    )


async def migrate(connection: Connection, migrations: Sequence[Migration], *, where: str) -> None:
    """Apply what is missing, in one transaction. Others who open the same database wait for it."""
    async with connection.transaction():
        await connection.execute(
            "select set_config('statement_timeout', '0', true), set_config('commonplace.every_tenant', 'on', true)"
        )
        await connection.execute("select pg_advisory_xact_lock(%s)", (MIGRATION_LOCK,))
        applied = await _applied(connection, migrations, where=where)
        for migration in migrations:
            if migration.number not in applied:
                await _apply(connection, migration, where=where)
        named = await connection.execute("select 1 from meta where key = 'name'")
        if await named.fetchone() is None:  # only then: what is up to date can be opened where nothing may be written
            await connection.execute("insert into meta values ('name', %s)", (uuid4().hex,))


async def _applied(connection: Connection, migrations: Sequence[Migration], *, where: str) -> frozenset[int]:
    """Return the numbers of the migrations that it has had."""
    known = migrations[-1].number
    if not await _is_there(connection, where=where):
        await _refuse_another_program(connection, where=where)
        with _of_its_owner(where):
            await connection.execute(
                "create table commonplace_migrations"
                " (number bigint primary key, name text not null, applied_at bigint not null)"
            )
        return frozenset()
    rows = await connection.execute("select number from commonplace_migrations")
    applied = frozenset(number for (number,) in await rows.fetchall())
    if max(applied, default=0) > known:
        raise LedgerTooNew(
            f"{where} has schema {max(applied)} and this version of Commonplace knows up to {known}: "
            "upgrade commonplace to open it"
        )
    return applied


async def _is_there(connection: Connection, *, where: str) -> bool:
    # In its own schema alone: another memory may be in one that is searched after it.
    found = await connection.execute(
        "select to_regclass(quote_ident(current_schema()) || '.commonplace_migrations') is not null,"
        " current_schema() is null"
    )
    there, nowhere = await found.fetchone() or (False, True)
    if nowhere:
        raise Incompatible(f"{where}: there is no schema of those that its search_path names; create one")
    return bool(there)


async def _refuse_another_program(connection: Connection, *, where: str) -> None:
    found = await connection.execute(
        "select relname from pg_class where relnamespace = current_schema()::regnamespace and relname = any(%s)",
        (["meta", "partitions", "messages", "facts", "sessions", "jobs"],),
    )
    if (row := await found.fetchone()) is not None:
        raise Incompatible(
            f"{where} has a table {row[0]!r} of another program: give Commonplace a database or a schema of its own"
        )


@contextmanager
def _of_its_owner(where: str) -> Iterator[None]:
    """Say what a role lacks that may not make the tables."""
    try:
        yield
    except errors.InsufficientPrivilege as error:
        raise Incompatible(
            f"{where}: {_first_line(error)}; let the role own the database, or a schema there with its tables, and "
            "let a superuser run `create extension vector` there once"
        ) from error


async def _apply(connection: Connection, migration: Migration, *, where: str) -> None:
    try:
        with _of_its_owner(where):
            # Text results: only then a script of several statements goes through in one piece.
            await connection.cursor().execute(migration.sql, binary=False)
    except (errors.FeatureNotSupported, errors.UndefinedFile, errors.UndefinedObject) as error:
        raise Incompatible(
            f"{where}: {_first_line(error)}; install pgvector on the server, which Commonplace keeps its vectors in"
        ) from error
    await connection.execute(
        "insert into commonplace_migrations values (%s, %s, %s)",
        (migration.number, migration.name, time.time_ns() // 1000),
    )
