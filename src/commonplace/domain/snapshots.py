"""What a snapshot is: parts, and a manifest that is written last and says what they must be. No content is in it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

FORMAT = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotPart:
    name: str
    bytes: int
    sha256: str
    """Of the part as it is stored."""
    records: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """The manifest of a snapshot."""

    name: str
    made_at: datetime
    ledger: str
    """The name of the ledger it was made of."""
    embedder: str | None
    counts: Mapping[str, int]
    """Records, by what they are."""
    parts: tuple[SnapshotPart, ...]
    sha256: str
    """Of all lines of all parts, in their order, before they are compressed."""
    erasures: tuple[str, ...] = field(default=(), repr=False)
    """The ids of the erasures that it knows of. Later ones are applied when it is restored."""
    salt: bytes | None = None
    """Set when its parts are encrypted."""
    check: bytes | None = None
    """With a salt: a known text under the key, so that a wrong key is told from damaged data."""
    format: int = FORMAT

    @property
    def bytes(self) -> int:
        return sum(part.bytes for part in self.parts)

    @property
    def encrypted(self) -> bool:
        return self.salt is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """What a look at every byte of a snapshot has found."""

    name: str
    records: int
    bytes: int
    problems: tuple[str, ...] = ()

    @property
    def whole(self) -> bool:
        return not self.problems


@dataclass(frozen=True, slots=True, kw_only=True)
class Pruned:
    removed: tuple[str, ...]
    kept: tuple[str, ...]
    unfinished: tuple[str, ...] = ()
    """Left behind by snapshots that were broken off, and removed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """What came back, counted and compared with the snapshot before anybody could read it."""

    name: str
    into: str
    counts: Mapping[str, int]
    erased: int = 0
    """Erasures that came after the snapshot, and were applied to it."""
    notes: tuple[str, ...] = ()
