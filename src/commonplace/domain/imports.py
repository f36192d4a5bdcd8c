"""What an import takes in, and what came of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from commonplace.domain.archive import Archived


@dataclass(frozen=True, slots=True)
class Taken:
    """A record that was read from a file, with the place where it stands there."""

    place: str
    record: Archived


@dataclass(frozen=True, slots=True)
class Bad:
    """Something in a file that cannot be read: where, and why."""

    place: str
    """E.g. `line 3` or `conversation 7`."""
    error: str


Item = Taken | Bad


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What a reader of files is told beside the file."""

    user: str | None = None
    """Whose it is where the file does not say so, and also where it does, but for lines of messages."""
    anonymous: bool = False
    """All of it is the anonymous user's."""
    session: str | None = None
    now: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """What came of an import, by kind of record: `messages`, `fact_versions`, `blocks` …"""

    format: str
    added: Mapping[str, int] = field(default_factory=dict)
    """In a dry run: what would be added, or is known already."""
    known: Mapping[str, int] = field(default_factory=dict)
    """Was there already and was left as it is."""
    loose: Mapping[str, int] = field(default_factory=dict)
    """Points to a message or fact that is not there: left out."""
    forgotten: Mapping[str, int] = field(default_factory=dict)
    """Was forgotten here, as a receipt says, and was not brought back."""
    bad: tuple[Bad, ...] = ()
    changes: int = 0
    """What was learned now."""
    pending: int = 0
    """Messages that are still to be learned from."""
    notes: tuple[str, ...] = ()
    dry_run: bool = False
