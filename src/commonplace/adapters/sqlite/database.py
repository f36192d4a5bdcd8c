"""Open a SQLite file the way the ledger wants it, bring its schema up to date, and put names to its errors."""

import contextlib
import os
import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol
from uuid import uuid4

from commonplace.adapters.sqlite.columns import Connection
from commonplace.domain.errors import Incompatible, InvalidInput, LedgerCorrupt, LedgerTooNew, LedgerUnavailable

Synchronous = Literal["FULL", "NORMAL"]

MIGRATIONS: Traversable = resources.files("commonplace.adapters.sqlite").joinpath("migrations")
APPLICATION_ID = 0x436D6E70  # "Cmnp": tells `file` and us whose database this is
PAGE_SIZE = 4_096
WRITER_CACHE_KIB = 16_384

_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT}
_UNAVAILABLE = {
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_NOMEM,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_PROTOCOL,
    sqlite3.SQLITE_READONLY,
}


class Migration(NamedTuple):
    number: int
    name: str
    sql: str


class Encrypting(Protocol):
    """What opens an encrypted file, with a driver of its own: `cipher.Cipher`."""

    def connect(self, path: Path | str, **options: Any) -> Connection: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Database:
    """Where it is and how to open it. A path of None is a private database in this process."""

    path: Path | None
    synchronous: Synchronous
    busy_timeout: float
    pragmas: Mapping[str, str] = field(default_factory=dict)
    migrations: Traversable = MIGRATIONS
    cipher: Encrypting | None = None
    """Encrypts the file."""

    def writer(self) -> Connection:
        """Connect, and create the database or bring it up to date."""
        if self.path is not None:
            _make_private(self.path)
        connection = self._connect()
        try:
            connection.execute(f"pragma page_size = {PAGE_SIZE}")
            self._cache(connection)
            if self.path is not None:
                self._use_wal(connection)
            migrate(connection, read_migrations(self.migrations), where=str(self.path or "memory"))
        except BaseException:
            connection.close()
            raise
        return connection

    def second_writer(self) -> Connection:
        """Connect to a database that `writer` has made ready. It leaves the log to that one to move."""
        connection = self._connect()
        self._cache(connection)
        connection.execute("pragma wal_autocheckpoint = 0")
        return connection

    def reader(self) -> Connection:
        connection = self._connect()
        connection.execute("pragma query_only = on")
        return connection

    def bytes_on_disk(self) -> int:
        if self.path is None:
            return 0
        files = (self.path.with_name(self.path.name + suffix) for suffix in ("", "-wal"))
        return sum(file.stat().st_size for file in files if file.exists())

    def translate(self, error: Exception) -> Exception:
        """Return the error in the words of the domain, with its cause. A bug of ours comes back as it is."""
        translated: Exception
        match error:
            case Exception() if self.cipher is not None and _code(error) == sqlite3.SQLITE_NOTADB:
                translated = InvalidInput(f"{self.path}: the key does not fit, or it is no ledger; {self._way_back()}")
            case Exception() if self.path is not None and _code(error) == sqlite3.SQLITE_NOTADB:
                translated = LedgerCorrupt(
                    f"{self.path}: it is no SQLite file. If it is encrypted, set ledger_key; if not, {self._way_back()}"
                )
            case Exception() if _code(error) in _DAMAGED:
                translated = LedgerCorrupt(f"{self.path}: {error}; {self._way_back()}")
            case Exception() if _code(error) in _UNAVAILABLE:
                translated = LedgerUnavailable(f"{self.path}: {error}")
            case OSError():
                translated = LedgerUnavailable(f"{self.path}: {error}")
            case _:
                return error
        translated.__cause__ = error
        return translated

    def note_way_back(self, command: str) -> None:
        """Keep, beside the database, how its last snapshot is restored: it can be read when the database cannot."""
        if self.path is not None:
            file = self._way_back_file(self.path)
            with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as stream:
                stream.write(f"{command}\n")

    def _way_back(self) -> str:
        file = None if self.path is None else self._way_back_file(self.path)
        if file is None or not file.is_file():
            return "no snapshot of it is known: restore one, if you have one, with `commonplace restore`"
        return f"the way back is its last snapshot: {file.read_text().strip()}"

    @staticmethod
    def _way_back_file(path: Path) -> Path:
        return path.with_name(f"{path.name}.snapshots")

    def _connect(self) -> Connection:
        connect = sqlite3.connect if self.cipher is None or self.path is None else self.cipher.connect
        connection = connect(
            self.path or ":memory:",
            timeout=self.busy_timeout,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=256,
        )
        connection.execute(f"pragma synchronous = {self.synchronous}")
        connection.execute("pragma foreign_keys = on")
        connection.execute("pragma secure_delete = on")
        connection.execute("pragma temp_store = memory")
        for name, value in self.pragmas.items():
            connection.execute(f"pragma {name} = {value}")
        return connection

    def _cache(self, connection: Connection) -> None:
        if "cache_size" not in self.pragmas:
            connection.execute(f"pragma cache_size = -{WRITER_CACHE_KIB}")

    def _use_wal(self, connection: Connection) -> None:
        """Switch to WAL. SQLite does not always wait for another process that does the same, so wait here."""
        give_up = time.monotonic() + self.busy_timeout
        while True:
            try:
                (mode,) = connection.execute("pragma journal_mode = wal").fetchone()
            except Exception as error:
                if _code(error) != sqlite3.SQLITE_BUSY or time.monotonic() > give_up:
                    raise
                time.sleep(0.01)
                continue
            if mode != "wal":
                raise LedgerUnavailable(f"{self.path}: this file system cannot hold a SQLite database in WAL mode")
            return


def _code(error: Exception) -> int:
    """Return the primary code, the low byte of what SQLite, or SQLCipher, reports; -1 for any other error."""
    code: int = getattr(error, "sqlite_errorcode", -1)
    return code & 0xFF if code >= 0 else code


def _make_private(path: Path) -> None:
    """Make sure that a new folder and file are the user's own. SQLite gives its other files the same mode.

    A file that is there is not touched: to close any descriptor of it would drop every lock of this process on it, and
    the next one to leave the database would take away its log from under us.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with contextlib.suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))


def read_migrations(folder: Traversable) -> Sequence[Migration]:
    """Read files named NNNN_name.sql, in the order of their numbers."""
    files = (file for file in folder.iterdir() if file.name.endswith(".sql"))
    return sorted(
        Migration(int(file.name[:4]), file.name[5:].removesuffix(".sql"), file.read_text("utf-8")) for file in files
    )


def migrate(connection: Connection, migrations: Sequence[Migration], *, where: str) -> None:
    """Apply what is missing, in one transaction. Others who open the same file wait for it."""
    connection.execute("begin immediate")
    try:
        applied = _applied(connection, known=migrations[-1].number, where=where)
        for migration in migrations:
            if migration.number not in applied:
                _apply(connection, migration)
        connection.execute("insert or ignore into meta values ('name', ?)", (uuid4().hex,))
        connection.execute("commit")
    except BaseException:
        if connection.in_transaction:
            connection.execute("rollback")
        raise


def _applied(connection: Connection, *, known: int, where: str) -> frozenset[int]:
    """Return the numbers of the migrations that it has had."""
    (tables,) = connection.execute("select count(*) from sqlite_master").fetchone()
    (owner,) = connection.execute("pragma application_id").fetchone()
    if tables == 0:
        connection.execute(f"pragma application_id = {APPLICATION_ID}")
        connection.execute(
            "create table migrations"
            " (number integer primary key, name text not null, applied_at integer not null) strict"
        )
        return frozenset()
    if owner != APPLICATION_ID:
        raise Incompatible(f"{where} is a database of another program: choose another folder")
    applied = frozenset(number for (number,) in connection.execute("select number from migrations"))
    if max(applied, default=0) > known:
        raise LedgerTooNew(
            f"{where} has schema {max(applied)} and this version of Commonplace knows up to {known}: "
            "upgrade commonplace to open it"
        )
    return applied


def _apply(connection: Connection, migration: Migration) -> None:
    for statement in _statements(migration.sql):
        connection.execute(statement)
    connection.execute(
        "insert into migrations values (?, ?, ?)", (migration.number, migration.name, time.time_ns() // 1000)
    )


def _statements(sql: str) -> Iterator[str]:
    """Split a script. `executescript` would commit first, and a migration must not."""
    statement = ""
    for line in sql.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
    if statement.strip():
        yield statement
