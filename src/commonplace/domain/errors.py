"""Every error a caller can meet.

CommonplaceError
├── InvalidInput          an argument is wrong: the message names the value and what was expected (also a ValueError)
├── NotFound              the id is unknown to this user (also when it belongs to somebody else)
├── Conflict              somebody else changed it first; read again and retry
│   └── Overtaken             a forget, or another worker, came first: there is nothing left to do
├── OnHold                a legal hold keeps this user's data from being removed; release it first
├── NotBuiltYet           the method is specified, but this version does not have it
├── Unavailable           a part did not answer; retrying may help
│   ├── LedgerUnavailable     the database: locked past the time-out, disk full, unreachable
│   ├── StoreUnavailable      where snapshots are kept: unreachable, full, refused
│   ├── IndexUnavailable      the vector index; the ledger still holds everything
│   ├── EmbedderUnavailable   the embedding model cannot be had or failed
│   ├── RerankerUnavailable   the reranker failed; recall keeps its own order then
│   └── ModelUnavailable      the language model did not answer
│       └── ModelRefused          its service refused the request: a wrong key, an unknown model
├── Incompatible          the stored data and this program do not fit: the message says the way out
│   ├── LedgerTooNew          written by a newer version of Commonplace
│   └── EmbedderMismatch      the vectors were made by another embedding model
├── SnapshotCorrupt       a snapshot is not what its manifest says; take another one
├── LedgerCorrupt         the database file is damaged; restore the last snapshot
├── UnreadableReply       the model answered, but not in the agreed shape
└── Closed                the memory was closed, or not opened yet
"""

from datetime import datetime

from commonplace.domain.usage import NOTHING, Usage


class CommonplaceError(Exception):
    """Base of every error raised on purpose by this package."""


class InvalidInput(CommonplaceError, ValueError):
    """An argument is wrong. The message names the value and what was expected."""


class NotFound(CommonplaceError):
    """The id is unknown to this user."""

    def __init__(self, what: str, identifier: str, *, where: str = "for this user") -> None:
        self.what, self.identifier = what, identifier
        super().__init__(f"no {what} with id {identifier!r} {where}")


class Conflict(CommonplaceError):
    """What was read has been changed since. Read again and retry."""


class Overtaken(Conflict):
    """What the work was about has been forgotten since, or somebody else has done it. Nothing is left to do."""


class OnHold(CommonplaceError):
    """A legal hold keeps this user's data from being removed."""

    def __init__(self, user: str | None, *, since: datetime) -> None:
        named = "the anonymous user" if user is None else f"user {user!r}"
        super().__init__(f"{named} is on hold since {since:%Y-%m-%d}: nothing is removed until the hold is released")


class NotBuiltYet(CommonplaceError):
    """Specified, but not in this version."""

    def __init__(self, name: str) -> None:
        super().__init__(f"{name} is not built yet: the README lists what this version has")


class Unavailable(CommonplaceError):
    """A part did not answer; retrying may help."""


class LedgerUnavailable(Unavailable):
    """The database did not answer."""


class StoreUnavailable(Unavailable):
    """Where snapshots are kept did not answer, or has no room."""


class IndexUnavailable(Unavailable):
    """The vector index did not answer. The ledger still holds everything."""


class EmbedderUnavailable(Unavailable):
    """The embedding model cannot be had, or failed."""


class RerankerUnavailable(Unavailable):
    """The reranker cannot be had, failed, or answered in another shape."""


class ModelUnavailable(Unavailable):
    """The language model did not answer."""

    def __init__(self, message: str, *, retry_after: float | None = None) -> None:
        self.retry_after = retry_after
        """Seconds that its service asked to wait before trying again, if it did."""
        super().__init__(message)


class ModelRefused(ModelUnavailable):
    """The service of the language model refused the request: a wrong key, an unknown model, a message too long."""


class Incompatible(CommonplaceError):
    """The stored data and this program do not fit."""


class LedgerTooNew(Incompatible):
    """The database was written by a newer version."""


class EmbedderMismatch(Incompatible):
    """The stored vectors were made by another embedding model."""


class SnapshotCorrupt(CommonplaceError):
    """A snapshot is not what its manifest says."""


class LedgerCorrupt(CommonplaceError):
    """The database file is damaged."""


class UnreadableReply(CommonplaceError):
    """The model answered, but not in the agreed shape."""

    def __init__(self, message: str, *, usage: Usage = NOTHING) -> None:
        self.usage = usage
        """What it has cost all the same."""
        super().__init__(message)


class Closed(CommonplaceError):
    """The memory is not open."""
