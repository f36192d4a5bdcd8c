"""Everything a ledger holds, as plain records in an order in which they can be written again.

The records of a tenant follow its `OfTenant`, those of a user their `OfUser`. A user's messages and versions of facts
come in the order of their index rows, which recall depends on; what points to them (sources, changes) comes after.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Literal

from commonplace.domain.keys import Key
from commonplace.domain.receipts import Part, Receipt
from commonplace.domain.retention import Hold
from commonplace.domain.usage import Usage
from commonplace.domain.values import (
    AttachmentId,
    Block,
    BlockVersion,
    Fact,
    FactChange,
    Json,
    Message,
    SessionId,
    Source,
    Summary,
)

PLAIN, FORMAT = 1, 2
"""Raised when an old reader could misread a new record. A new kind of record, or a new field, does not need that.

Format 2 has users with vectors of a model of their own; what has none of them stays of format 1.
"""

UNFINISHED = "unfinished:"
"""How the embedder's name begins in a ledger that is being filled from an archive: it does not open as a memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """The first record: whose vectors and which ledger these are."""

    format: int = PLAIN
    ledger: str
    """The name of the ledger it was read from."""
    embedder: str | None
    """The identity of the model whose vectors these are; None where there are none."""


@dataclass(frozen=True, slots=True)
class OfTenant:
    tenant: str


@dataclass(frozen=True, slots=True)
class OfUser:
    """What follows belongs to this user; None is the anonymous one."""

    user: str | None
    embedder: str | None = None
    """The identity of the model whose vectors these are, where it is not the one that `Opened` names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """What the indexes hold about a text, or a passage of it. It can be made anew from the text."""

    start: int
    stop: int
    terms: bytes
    vector: bytes | None = None
    """Float32, little-endian, of unit length."""
    tokens: bytes | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptMessage:
    message: Message
    passages: tuple[Passage, ...] = ()
    """Empty when it was read without them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptFact:
    """One version of a fact. `fact.sources` names the messages that taught it, for those who read only this record."""

    fact: Fact
    passage: Passage | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptSummary:
    """A summary of a stretch of a session, after the messages that it covers."""

    summary: Summary
    passage: Passage | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptSession:
    id: SessionId
    started_at: datetime
    last_seen: datetime
    expires_at: datetime
    ended_at: datetime | None
    state: Mapping[str, Json]


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptJob:
    """Work that waits, or has failed for good. One that was running waits again; its epoch is the reader's own."""

    id: str
    kind: str
    payload: Json
    attempts: int
    run_at: datetime
    status: Literal["queued", "dead"]
    error: str


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptErasure:
    """A line of the erasure log. Without a receipt it was cut short, and is completed by whoever opens the ledger."""

    id: str
    what: Part
    at: datetime
    counts: Mapping[str, int]
    digest: str
    receipt: Receipt | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What a tenant's models have cost on a day."""

    day: date
    usage: Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class FilePiece:
    """A piece of an attachment's bytes. All of a user's come before the messages; no ledger keeps them."""

    id: AttachmentId
    start: int
    data: bytes
    last: bool


Mark = Opened | OfTenant | OfUser
"""Says what the records after it belong to."""
OfTenants = Spent | Key | Hold
"""What is a tenant's own, and no user's."""
OfUsers = (
    KeptMessage
    | KeptFact
    | KeptSummary
    | Source
    | FactChange
    | KeptSession
    | BlockVersion
    | Block
    | KeptJob
    | KeptErasure
)
Held = OfTenants | OfUsers
"""Something a ledger keeps."""
Record = Mark | Held
Archived = Record | FilePiece
"""A line of an export or a snapshot."""

NAMES: Mapping[type[Held | FilePiece], str] = {
    KeptMessage: "messages",
    KeptFact: "fact_versions",
    KeptSummary: "summaries",
    Source: "sources",
    FactChange: "changes",
    KeptSession: "sessions",
    BlockVersion: "block_versions",
    Block: "blocks",
    KeptJob: "jobs",
    KeptErasure: "erasures",
    Spent: "usage",
    Key: "api_keys",
    Hold: "holds",
    FilePiece: "file_pieces",
}
"""What each kind of record is called where records are counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What became of records that were given to a ledger, by their kind: `messages`, `fact_versions` …"""

    added: Mapping[str, int]
    known: Mapping[str, int]
    """Was there already; it is left as it is."""
    loose: Mapping[str, int]
    """Points to a message or fact that is not there, or does not fit the versions that are: left out."""
