"""Where attachments are kept, and what encrypts them: the key of the ledger, for they are as private as it is."""

from pathlib import Path
from typing import TYPE_CHECKING

from commonplace.domain.errors import InvalidInput, StoreUnavailable
from commonplace.domain.extras import needing
from commonplace.ports.attachments import AttachmentStore
from commonplace.ports.snapshot_store import Seal
from commonplace.wiring.ledgers import from_keyring
from commonplace.wiring.location import sqlite_file

if TYPE_CHECKING:
    from commonplace.settings import Settings


def open_attachments(settings: "Settings", *, in_process: bool) -> AttachmentStore:
    """Return the folder or bucket of attachments; it is made when the first one comes."""
    place = settings.attachments_to
    if place is not None and place.startswith("s3://"):
        with needing("s3", place, StoreUnavailable):
            from commonplace.adapters.s3.attachments import S3Attachments
        return S3Attachments(place, endpoint=settings.s3_endpoint)
    if place is not None and "://" in place:
        raise InvalidInput(f"attachments_to={place!r}: expected a folder or s3://bucket/prefix")
    if place is None and in_process:
        from commonplace.adapters.inmemory.attachments import InMemoryAttachments

        return InMemoryAttachments()
    from commonplace.adapters.folder.attachments import FolderAttachments

    return FolderAttachments(_folder(settings) if place is None else Path(place).expanduser().absolute())


def _folder(settings: "Settings") -> Path:
    """Beside the ledger, where that is a file; else in the memory's folder."""
    home = settings.home.absolute()
    ledger = home / "ledger.db" if settings.database_url is None else sqlite_file(settings.database_url)
    return home / "attachments" if ledger is None else ledger.absolute().with_name(f"{ledger.name}.attachments")


def open_attachment_seal(settings: "Settings") -> Seal | None:
    """Return what encrypts attachments: there is one where the ledger is encrypted."""
    if settings.ledger_key is None and settings.ledger_key_file is None and settings.ledger_keyring is None:
        return None
    with needing("encryption", "encryption", StoreUnavailable):
        from commonplace.adapters.sealing import KeySeal, PassphraseSeal
    if settings.ledger_key is not None:
        return PassphraseSeal(settings.ledger_key.get_secret_value())
    if settings.ledger_key_file is not None:
        return KeySeal(settings.ledger_key_file.read_bytes())
    return PassphraseSeal(from_keyring(settings.ledger_keyring or ""))
