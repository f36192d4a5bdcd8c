"""Where files are kept beside the ledger: the memory's folder, and snapshots, sealed or not."""

from pathlib import Path
from typing import TYPE_CHECKING

from commonplace.domain.errors import InvalidInput, StoreUnavailable
from commonplace.domain.extras import needing
from commonplace.ports.premises import Premises
from commonplace.ports.snapshot_store import Seal, SnapshotStore

if TYPE_CHECKING:
    from commonplace.settings import Settings


def open_premises(settings: "Settings") -> Premises | None:
    """Return the folder of the memory, where there is one."""
    from commonplace.adapters.folder.premises import FolderPremises

    if settings.database_url is not None:
        return None
    chroma = settings.chroma_path or settings.home / "chroma"
    known = frozenset({"chroma", "chroma.lock", chroma.name, f"{chroma.name}.lock"})
    return FolderPremises(settings.home, settings.home / "ledger.db", known)


def open_store(settings: "Settings", place: str) -> SnapshotStore:
    """Open the folder or bucket where snapshots are kept."""
    if place.startswith("s3://"):
        with needing("s3", place, StoreUnavailable):
            from commonplace.adapters.s3 import S3SnapshotStore
        return S3SnapshotStore(place, endpoint=settings.s3_endpoint)
    if "://" in place:
        raise InvalidInput(f"{place!r}: expected a folder or s3://bucket/prefix")
    from commonplace.adapters.folder import FolderStore

    return FolderStore(Path(place).expanduser().absolute())


def open_seal(settings: "Settings") -> Seal | None:
    """Return what encrypts snapshots, if they are to be."""
    if settings.snapshot_passphrase is None and settings.snapshot_key_file is None:
        return None
    with needing("encryption", "encryption", StoreUnavailable):
        from commonplace.adapters.sealing import KeySeal, PassphraseSeal
    if settings.snapshot_passphrase is not None:
        return PassphraseSeal(settings.snapshot_passphrase.get_secret_value())
    assert settings.snapshot_key_file is not None
    try:
        return KeySeal(settings.snapshot_key_file.read_bytes())
    except OSError as error:
        raise InvalidInput(f"snapshot_key_file={str(settings.snapshot_key_file)!r}: {error.strerror}") from error
