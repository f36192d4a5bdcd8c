"""Which ledger keeps a memory, and what encrypts it."""

import hashlib
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from commonplace.domain.archive import UNFINISHED
from commonplace.domain.errors import Incompatible, InvalidInput, LedgerUnavailable
from commonplace.domain.extras import needing
from commonplace.ports.keys import KeyRing
from commonplace.ports.ledger import Ledger
from commonplace.wiring.location import checked, reachable, shown, sqlite_file

if TYPE_CHECKING:
    from commonplace.adapters.sqlite.cipher import Cipher
    from commonplace.settings import Settings


def open_ledger(
    settings: "Settings", *, in_process: bool, existing: bool = False
) -> AbstractAsyncContextManager[Ledger]:
    """Open it, or make it; `existing` makes none on a server. Whether there is a file, who names it can see."""
    if in_process:
        return open_sqlite(settings, None)
    if settings.database_url is None:
        return open_sqlite(settings, _folder(settings.home) / "ledger.db")
    if settings.database_url.startswith(("postgresql://", "postgres://")):
        return open_postgres(settings, checked("database_url", settings.database_url), existing=existing)
    file = sqlite_file(settings.database_url)
    if file is None:  # not shown: it may hold a password
        raise InvalidInput(
            "database_url: expected sqlite:///relative/path, sqlite:////absolute/path or postgresql://user@host/database"
        )
    return open_sqlite(settings, file)


def _folder(home: Path) -> Path:
    if reachable(home).exists() and not home.is_dir():
        raise InvalidInput(f"home={str(home)!r}: is a file; expected a folder, or sqlite:///{home} for a database file")
    return home


@asynccontextmanager
async def open_postgres(settings: "Settings", url: str, *, existing: bool = False) -> AsyncIterator[Ledger]:
    if settings.ledger_key or settings.ledger_key_file or settings.ledger_keyring:
        raise InvalidInput(
            "ledger_key encrypts a SQLite file: expected none for postgresql://, encrypt its disk instead"
        )
    with needing("postgres", "postgresql://", LedgerUnavailable):
        from commonplace.adapters.postgres import PostgresLedger
    from commonplace.recall.packed import hashes

    ledger = PostgresLedger(
        url,
        pool_size=settings.postgres_pool,
        statement_timeout=settings.postgres_statement_timeout,
        patience=settings.postgres_patience,
        unpack=hashes,
        rewrite_up_to=settings.postgres_rewrite_up_to,
    )
    if existing and not await ledger.is_there():
        raise InvalidInput(f"{shown(url)}: there is no memory in it; expected a database that has one")
    async with ledger:
        yield ledger


@asynccontextmanager
async def open_sqlite(settings: "Settings", path: Path | None) -> AsyncIterator[Ledger]:
    from commonplace.adapters.sqlite import SqliteLedger
    from commonplace.recall.packed import hashes

    async with SqliteLedger(
        path,
        synchronous=settings.synchronous,
        busy_timeout=settings.busy_timeout,
        pragmas=settings.sqlite_pragmas,
        unpack=hashes,
        cipher=open_cipher(settings) if path is not None else None,
    ) as ledger:
        yield ledger


def open_cipher(settings: "Settings") -> "Cipher | None":
    """Return what encrypts the ledger, if it is to be: by a key from a setting, a file, or the system's keyring."""
    named = [settings.ledger_key, settings.ledger_key_file, settings.ledger_keyring]
    if named == [None, None, None]:
        return None
    if sum(one is not None for one in named) > 1:
        raise InvalidInput("expected one of ledger_key, ledger_key_file and ledger_keyring")
    with needing("encryption", "encryption", LedgerUnavailable):
        from commonplace.adapters.sqlite.cipher import Cipher
    if settings.ledger_key is not None:
        return Cipher(settings.ledger_key.get_secret_value())
    if settings.ledger_key_file is not None:
        return Cipher(_key_of(settings.ledger_key_file))
    return Cipher(from_keyring(settings.ledger_keyring or ""))


def _key_of(file: Path) -> bytes:
    try:
        content = file.read_bytes()
    except OSError as error:
        raise InvalidInput(f"ledger_key_file={str(file)!r}: {error.strerror}") from error
    if len(content) < 32:
        raise InvalidInput(
            f"ledger_key_file={str(file)!r}: holds {len(content)} bytes; expected 32 or more random ones"
        )
    return hashlib.sha256(content).digest()


def from_keyring(name: str) -> str:
    import keyring
    from keyring.errors import KeyringError

    try:
        found = keyring.get_password("commonplace", name)
    except KeyringError as error:
        raise LedgerUnavailable(f"ledger_keyring={name!r}: {error}") from error
    if found is None:
        raise InvalidInput(f"ledger_keyring={name!r}: no such entry; `keyring set commonplace {name}` makes one")
    return found


@asynccontextmanager
async def open_keys(settings: "Settings") -> AsyncIterator[KeyRing]:
    """Open the ledger for the sake of its keys."""
    async with open_ledger(settings, in_process=False) as ledger:
        if not isinstance(ledger, KeyRing):
            raise InvalidInput(f"{type(ledger).__name__}: this ledger keeps no keys")
        refuse_part(await ledger.embedder_identity())
        yield ledger


def refuse_part(recorded: str | None) -> None:
    """Raise Incompatible for what a ledger has recorded that a move or a restore has not filled to the end.

    Whatever was written to it then, a key as well, would be in the way of the rest.
    """
    if recorded is not None and recorded.startswith(UNFINISHED):
        raise Incompatible(f"this memory is not whole ({recorded}): run that to its end, or take another place")
