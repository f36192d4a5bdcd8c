"""What was to be forgotten, and the proof that it was: ids and numbers, never content."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from commonplace.domain.errors import InvalidInput
from commonplace.domain.retention import Due
from commonplace.domain.values import FactId, MessageId, SessionId


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What to forget of one user: the messages that fit all that is named, or one fact, or what is due by retention.

    Nothing named is all of it.
    """

    session: SessionId | None = None
    before: datetime | None = None
    """What was said before that moment."""
    message: MessageId | None = None
    fact: FactId | None = None
    due: Due | None = None

    def __post_init__(self) -> None:
        if self.fact is not None and (self.session, self.before, self.message) != (None, None, None):
            raise InvalidInput(f"fact={self.fact!r}: expected alone, not with session, before or message")

    @property
    def whole(self) -> bool:
        return (self.session, self.before, self.message, self.fact, self.due) == (None,) * 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """The proof that something was forgotten, store by store."""

    id: str
    user: str | None
    what: Part
    counts: Mapping[str, Mapping[str, int]]
    """How much was removed: by store (`ledger`, `index`), then by what it was."""
    digest: str
    """SHA-256 of the ids of the messages and facts that were removed: whoever knows them can check what it covers."""
    requested_at: datetime
    at: datetime | None = None
    """When all was done and looked after; None for a dry run, which changes nothing."""
    verified: tuple[str, ...] = ()
    """The stores in which it was looked for again, and not found."""
    notes: tuple[str, ...] = field(default=())
    """What the caller should know, e.g. that messages which said a forgotten fact are still kept."""
    tenant: str | None = None
    """Set when a whole tenant was forgotten: this sums up the receipts of its users, which are kept one by one."""


def summed(receipts: Sequence[Receipt], *, tenant: str, id_: str, requested_at: datetime) -> Receipt:
    """Return one receipt for a whole tenant. Its digest is that of the users' digests."""
    totals: dict[str, int] = {"users": len(receipts)}
    for receipt in receipts:
        for name, count in receipt.counts["ledger"].items():
            totals[name] = totals.get(name, 0) + count
    ends = [receipt.at for receipt in receipts]
    return Receipt(
        id=id_,
        user=None,
        what=Part(),
        counts={"ledger": totals},
        digest=hashlib.sha256("\n".join(sorted(one.digest for one in receipts)).encode()).hexdigest(),
        requested_at=requested_at,
        at=max((one for one in ends if one is not None), default=None),
        verified=receipts[0].verified if receipts else (),
        notes=tuple(dict.fromkeys(note for one in receipts for note in one.notes)),
        tenant=tenant,
    )


def digest_of(messages: Iterable[MessageId], facts: Iterable[FactId]) -> str:
    """Return the SHA-256 of ids, in an order that does not depend on the store."""
    lines = [f"message {one}" for one in sorted(messages)] + [f"fact {one}" for one in sorted(facts)]
    return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogatepass")).hexdigest()
