"""What each exit code means: the one table from errors to codes."""

from enum import IntEnum

from commonplace.domain.errors import (
    Conflict,
    Incompatible,
    InvalidInput,
    LedgerCorrupt,
    NotBuiltYet,
    NotFound,
    OnHold,
    SnapshotCorrupt,
    Unavailable,
    UnreadableReply,
)


class Exit(IntEnum):
    OK = 0
    NO = 1
    """The answer is no: nothing found, an unknown id, a sick memory, a bad line, a wrong answer in the demo."""
    WRONG_USE = 2
    NOT_BUILT = 3
    UNAVAILABLE = 4
    """A part did not answer: a lock, a model, an index. Trying again may help."""
    UNFIT = 5
    """The stored data is damaged, or does not fit this program. The message says the way out."""
    BUG = 70
    INTERRUPTED = 130
    PIPE_CLOSED = 141


CODES: tuple[tuple[type[Exception], Exit], ...] = (
    (NotFound, Exit.NO),
    (OnHold, Exit.NO),
    (InvalidInput, Exit.WRONG_USE),
    (NotBuiltYet, Exit.NOT_BUILT),
    (Unavailable, Exit.UNAVAILABLE),
    (Conflict, Exit.UNAVAILABLE),
    (UnreadableReply, Exit.UNAVAILABLE),
    (Incompatible, Exit.UNFIT),
    (LedgerCorrupt, Exit.UNFIT),
    (SnapshotCorrupt, Exit.UNFIT),
)


def code_of(error: Exception) -> Exit:
    return next((code for kind, code in CODES if isinstance(error, kind)), Exit.BUG)
