"""The form of a snapshot: names, the manifest and its checksum, and which ones may go. Nothing here does any I/O."""

import gzip
import hashlib
import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from commonplace.care.coding import decoded, encoded
from commonplace.care.lines import line_of
from commonplace.domain.archive import NAMES, Archived, FilePiece, Held, KeptErasure, Opened
from commonplace.domain.errors import Incompatible, InvalidInput, SnapshotCorrupt
from commonplace.domain.snapshots import FORMAT, Snapshot

SNAPSHOTS, ERASURES, MANIFEST = "snapshots/", "erasures/", "manifest.json"
PART_BYTES = 8 << 20
"""Of lines, before they are compressed: what is in memory at once, and what one upload is at most."""
LEVEL = 6
CHECK = b"commonplace"
NAME = re.compile(r"[A-Za-z0-9._-]{1,200}")


def named(made_at: datetime, unique: str) -> str:
    return f"{made_at:%Y%m%dT%H%M%SZ}-{unique[:8]}"


def object_name(snapshot: str, inside: str) -> str:
    if not NAME.fullmatch(snapshot):
        raise InvalidInput(f"snapshot={snapshot!r}: expected the name of a snapshot, or latest")
    return f"{SNAPSHOTS}{snapshot}/{inside}"


@dataclass(slots=True)
class Packer:
    """Gathers records into the lines of a part, and keeps count."""

    counts: Counter[str] = field(default_factory=Counter)
    erasures: list[str] = field(default_factory=list)
    opened: Opened | None = None
    records: int = 0
    """In the part at hand."""
    _lines: list[bytes] = field(default_factory=list)
    _size: int = 0
    _digest: "hashlib._Hash" = field(default_factory=hashlib.sha256)

    @property
    def full(self) -> bool:
        return self._size >= PART_BYTES

    def add(self, records: Sequence[Archived]) -> None:
        for record in records:
            line = line_of(record).encode("ascii") + b"\n"
            self._lines.append(line)
            self._size += len(line)
            self._digest.update(line)
            if isinstance(record, Opened):
                self.opened = record
            elif isinstance(record, Held | FilePiece):
                self.counts[NAMES[type(record)]] += 1
            if isinstance(record, KeptErasure):
                self.erasures.append(record.id)
        self.records += len(records)

    def take(self) -> bytes:
        """Return the part at hand, compressed, and begin the next."""
        packed = gzip.compress(b"".join(self._lines), compresslevel=LEVEL, mtime=0)
        self._lines, self._size, self.records = [], 0, 0
        return packed

    def sha256(self) -> str:
        return self._digest.hexdigest()


def manifest_of(snapshot: Snapshot) -> bytes:
    """Return the manifest as it is stored: with a checksum over all the rest of it."""
    body = encoded(snapshot)
    assert isinstance(body, dict)
    return json.dumps({**body, "manifest_sha256": _checksum(body)}, indent=1).encode("ascii")


def read_manifest(data: bytes, *, name: str) -> Snapshot:
    """Read a manifest. Raises SnapshotCorrupt, and Incompatible for one of a newer version."""
    try:
        body = json.loads(data)
        checksum = body.pop("manifest_sha256")
    except (ValueError, KeyError, AttributeError, TypeError):
        raise SnapshotCorrupt(f"{name}: its manifest cannot be read") from None
    if checksum != _checksum(body):
        raise SnapshotCorrupt(f"{name}: its manifest was changed")
    if body.get("format", 0) > FORMAT:
        raise Incompatible(f"{name} has format {body['format']}, and this version reads up to {FORMAT}: upgrade")
    try:
        return decoded(Snapshot, body, name="manifest")
    except InvalidInput as error:
        raise SnapshotCorrupt(f"{name}: {error}") from None


def _checksum(body: object) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode("ascii")).hexdigest()


def to_prune(
    snapshots: Sequence[Snapshot], *, keep: int | None, older_than: timedelta | None, now: datetime
) -> Sequence[Snapshot]:
    """Return those that may go: beyond the `keep` latest, and older than that. The latest always stays."""
    latest_first = sorted(snapshots, key=lambda one: (one.made_at, one.name), reverse=True)
    beyond = latest_first[max(keep, 1) if keep is not None else 1 :]
    return [one for one in beyond if older_than is None or one.made_at < now - older_than]
