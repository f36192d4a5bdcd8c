"""The part of the composition root that knows where things are kept: the ledger, its folder, and snapshots."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from commonplace.domain.errors import InvalidInput, StoreUnavailable
from commonplace.ports.ledger import Ledger
from commonplace.ports.premises import Premises
from commonplace.ports.snapshot_store import Seal, SnapshotStore

if TYPE_CHECKING:
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
