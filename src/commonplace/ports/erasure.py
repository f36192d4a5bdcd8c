"""What a ledger does to forget: one transaction that removes, a record that outlives a crash, files without traces."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from commonplace.domain.receipts import Part, Receipt
from commonplace.domain.scope import Scope
from commonplace.domain.values import ChangeKind, FactId, Json, MessageId, SessionId


@dataclass(frozen=True, slots=True, kw_only=True)
class Reworded:
    """A version that takes over the words of another version of its fact: its own were those of a forgotten message."""

    fact: FactId
    version: int
    like: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Reopened:
    """A next version of a fact, without what a forgotten message had done to it. Its words are those of `like`."""

    fact: FactId
    version: int
    like: int
    valid_from: datetime | None
    valid_to: datetime | None
    importance: float
    replaced_by: FactId | None
    change: ChangeKind
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Removal:
    """What one forget takes away. For a whole user the lists are empty: all of it goes."""

    id: str
    what: Part
    at: datetime
    messages: Sequence[MessageId] = ()
    facts: Sequence[FactId] = ()
    """Facts that go with all their versions and their history."""
    sessions: Sequence[SessionId] = ()
    """Sessions that go with their state."""
    reworded: Sequence[Reworded] = ()
    reopened: Sequence[Reopened] = ()
    stripped: Sequence[FactId] = ()
    """Facts that lose the metadata and the expiry that they had from a forgotten message."""
    quotes: Sequence[str] = ()
    """Reasons in the history that contain one of these are emptied."""
    facts_seen: int | None = None
    """As in `Change`: the version of facts that this was decided on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Erased:
    """A forget that the ledger has carried out: what is left to do about caches, indexes and files rests on it."""

    id: str
    scope: Scope
    number: int
    """The partition; 0 for a user who never held anything."""
    version: int
    """The version of the partition that the removal made."""
    what: Part
    at: datetime
    counts: Mapping[str, int]
    digest: str


class Erasure(Protocol):
    async def chosen(self, scope: Scope, what: Part) -> Sequence[MessageId]:
        """Return the ids of the messages that fit all that is named (not `fact`), oldest first."""
        ...

    async def touched(self, scope: Scope, messages: Sequence[MessageId]) -> Sequence[FactId]:
        """Return the facts that any of these messages taught, ended or changed, oldest first."""
        ...

    async def sessions_before(self, scope: Scope, moment: datetime) -> Sequence[SessionId]:
        """Return the sessions that were last seen before a moment."""
        ...

    async def erase(self, scope: Scope, removal: Removal, *, dry_run: bool = False) -> Erased:
        """Remove it all in one transaction, and record it as pending. A dry run is the same, undone at the end.

        Raises the scope's forget epoch. Jobs lose the ids of forgotten messages, and go when none is left; those that
        stay are queued again in the new epoch, so that one which is running now can no longer commit. The vectors kept
        by text are dropped, whoever's they are. Raises Conflict if `facts_seen` is out of date.
        """
        ...

    async def erase_tenant(
        self, tenant: str, *, at: datetime, new_id: Callable[[], str], dry_run: bool = False
    ) -> Sequence[Erased]:
        """Remove every user of a tenant, all in one transaction: each as `erase` does, with a record of its own.

        The tenant's jobs and counters of usage go with them.
        """
        ...

    async def pending_erasures(self) -> Sequence[Erased]:
        """Return what was erased and not concluded, of every tenant, oldest first."""
        ...

    async def scrub(self) -> Sequence[str]:
        """Leave no byte of anything that was removed in the files. Raises LedgerUnavailable while others read them.

        Returns, for the receipt, what may hold it still because it is out of reach. Only when that is nothing does a
        receipt say that the files were seen to.
        """
        ...

    async def remains(self, erased: Erased) -> int:
        """Look again: return how many rows of what was erased are still there."""
        ...

    async def conclude(self, receipt: Receipt, erased: Erased) -> Receipt:
        """Keep the receipt. If there is one already for this erasure, return that one."""
        ...

    async def add_snapshot_place(self, place: str, *, latest: str) -> None:
        """Remember where a snapshot was put: what is forgotten from now on has to be known there, too.

        A ledger that turns out to be damaged names it, and the `latest`, as the way back.
        """
        ...

    async def snapshot_places(self) -> Sequence[str]:
        """Return where snapshots were put."""
        ...

    async def receipts(self, scope: Scope) -> Sequence[Receipt]:
        """Return the receipts of a user, oldest first."""
        ...


def without(payload: Json, ids: frozenset[MessageId]) -> Json:
    """Return a job's payload without these ids; None when nothing is left to work on."""
    match payload:
        case str():
            return None if payload in ids else payload
        case list():
            left = [item for item in payload if not (isinstance(item, str) and item in ids)]
            return left if left or not payload else None
        case dict():
            pruned = {key: without(value, ids) for key, value in payload.items()}
            emptied = any(value is not None and pruned[key] is None for key, value in payload.items())
            return None if emptied else pruned
    return payload
