"""What became of a move from one ledger to another. No content is in it."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """What was moved, counted and compared by hash on both sides before anybody could open it."""

    source: str
    target: str
    counts: Mapping[str, int]
    users: int
    sha256: str
    """Of the records of all users, the same on both sides."""
    resumed: bool = False
    """It went on where an earlier run was broken off."""
    lost_files: int = 0
    """Attachments whose file was not at the source, either."""
