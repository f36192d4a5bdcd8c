"""The part of the composition root that knows where things are kept: the ledger, its folder, and snapshots."""

import hashlib
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from commonplace.domain.errors import InvalidInput, LedgerUnavailable, StoreUnavailable
from commonplace.ports.ledger import Ledger
from commonplace.ports.premises import Premises
from commonplace.ports.snapshot_store import Seal, SnapshotStore

if TYPE_CHECKING:
    from commonplace.adapters.sqlite.cipher import Cipher
    from commonplace.settings import Settings


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


def open_ledger(settings: "Settings", *, in_process: bool) -> AbstractAsyncContextManager[Ledger]:
    if in_process:
        return open_sqlite(settings, None)
    if settings.database_url is None:
        return open_sqlite(settings, settings.home / "ledger.db")
    url = urlsplit(settings.database_url)
    if url.scheme != "sqlite" or not url.path.strip("/"):
        raise InvalidInput(
            f"database_url: {url.scheme}://…: expected sqlite:///relative/path or sqlite:////absolute/path"
        )
    return open_sqlite(settings, Path(unquote(url.path[1:])))


def open_cipher(settings: "Settings") -> "Cipher | None":
    """Return what encrypts the ledger, if it is to be: by a key from a setting, a file, or the system's keyring."""
    named = [settings.ledger_key, settings.ledger_key_file, settings.ledger_keyring]
    if named == [None, None, None]:
        return None
    if sum(one is not None for one in named) > 1:
        raise InvalidInput("expected one of ledger_key, ledger_key_file and ledger_keyring")
    try:
        from commonplace.adapters.sqlite.cipher import Cipher
    except ImportError as error:
        raise LedgerUnavailable("encryption needs more packages: pip install 'commonplace[encryption]'") from error
    if settings.ledger_key is not None:
        return Cipher(settings.ledger_key.get_secret_value())
    if settings.ledger_key_file is not None:
        return Cipher(_key_of(settings.ledger_key_file))
    return Cipher(_from_keyring(settings.ledger_keyring or ""))


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


def _from_keyring(name: str) -> str:
    import keyring
    from keyring.errors import KeyringError

    try:
        found = keyring.get_password("commonplace", name)
    except KeyringError as error:
        raise LedgerUnavailable(f"ledger_keyring={name!r}: {error}") from error
    if found is None:
        raise InvalidInput(f"ledger_keyring={name!r}: no such entry; `keyring set commonplace {name}` makes one")
    return found


def open_store(settings: "Settings", place: str) -> SnapshotStore:
    """Open the folder or bucket where snapshots are kept."""
    if place.startswith("s3://"):
        try:
            from commonplace.adapters.s3 import S3SnapshotStore
        except ImportError as error:
            raise StoreUnavailable(f"{place} needs more packages: pip install 'commonplace[s3]'") from error
        return S3SnapshotStore(place, endpoint=settings.s3_endpoint)
    if "://" in place:
        raise InvalidInput(f"{place!r}: expected a folder or s3://bucket/prefix")
    from commonplace.adapters.folder import FolderStore

    return FolderStore(Path(place).expanduser().absolute())


def open_seal(settings: "Settings") -> Seal | None:
    """Return what encrypts snapshots, if they are to be."""
    if settings.snapshot_passphrase is None and settings.snapshot_key_file is None:
        return None
    try:
        from commonplace.adapters.sealing import KeySeal, PassphraseSeal
    except ImportError as error:
        raise StoreUnavailable("encryption needs more packages: pip install 'commonplace[encryption]'") from error
    if settings.snapshot_passphrase is not None:
        return PassphraseSeal(settings.snapshot_passphrase.get_secret_value())
    assert settings.snapshot_key_file is not None
    try:
        return KeySeal(settings.snapshot_key_file.read_bytes())
    except OSError as error:
        raise InvalidInput(f"snapshot_key_file={str(settings.snapshot_key_file)!r}: {error.strerror}") from error


def open_premises(settings: "Settings") -> Premises | None:
    """Return the folder of the memory, where there is one."""
    from commonplace.adapters.folder.premises import FolderPremises

    if settings.database_url is not None:
        return None
    chroma = settings.chroma_path or settings.home / "chroma"
    known = frozenset({"chroma", "chroma.lock", chroma.name, f"{chroma.name}.lock"})
    return FolderPremises(settings.home, settings.home / "ledger.db", known)
