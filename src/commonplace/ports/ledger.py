"""The ledger: the only truth. Everything else is an index or a cache that can be rebuilt from it.

A user's rows form one partition. Each write raises the partition's version by one and stamps the rows it touched
with it, so that caches and indexes, in this process or another, ask for "what changed since version v": that is the
outbox.
Every method is confined to one scope; an id that lives in another scope is not found.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, Protocol

from commonplace.domain.scope import Scope
from commonplace.domain.values import (
    Block,
    BlockVersion,
    Fact,
    FactChange,
    FactId,
    FactVersion,
    Message,
    MessageId,
    SessionId,
    Source,
    Summary,
    SummaryId,
)
from commonplace.ports.archive import Archive
from commonplace.ports.attachments import AttachmentRows
from commonplace.ports.erasure import Erasure
from commonplace.ports.feed import FactRow, Feed, IndexFeed, MessageRow, Vector, Versions
from commonplace.ports.jobs import Job, JobLedger
from commonplace.ports.leases import Leases
from commonplace.ports.retention import RetentionLedger
from commonplace.ports.session_states import SessionStates
from commonplace.ports.summaries import Summaries
from commonplace.ports.upkeep import Upkeep

__all__ = [
    "Beside",
    "Blocks",
    "Change",
    "ClosedVersion",
    "EmbeddingCache",
    "Entry",
    "FactRow",
    "Facts",
    "Feed",
    "IndexFeed",
    "Ledger",
    "MessagePage",
    "MessageQuery",
    "MessageRow",
    "Messages",
    "NewMessage",
    "NewSummary",
    "NewVersion",
    "Reinforced",
    "Shown",
    "Vector",
    "Versions",
    "Writing",
]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Entry:
    """What the indexes hold about a text, or about one passage (start to stop) of a long one."""

    start: int
    stop: int
    terms: bytes
    """Packed by `recall.terms`; a ledger keeps it and does not look inside."""
    vector: Vector | None
    """Unit length; None while no embedding model can be had."""
    tokens: bytes | None = None
    """Packed by `recall.late`; None where the embedder shows no tokens."""
    model: str | None = None
    """Whose vector it is. A ledger that holds another model's by now keeps the row without it."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NewMessage:
    message: Message
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NewVersion:
    """A first or further version of a fact; `fact.version` and `fact.recorded_at` say which and since when.

    Its `sources` are not read from here: they are in `Change.sources`, and belong to every version of the fact.
    """

    fact: Fact
    entry: Entry


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NewSummary:
    summary: Summary
    entry: Entry


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosedVersion:
    """A version that is no longer believed from `retracted_at` on."""

    fact: FactId
    version: int
    retracted_at: datetime
    replaced_by: FactId | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reinforced:
    fact: FactId
    version: int
    confidence: float
    importance: float | None = None
    """None: as it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """All that one call writes, in one transaction: everything or nothing."""

    messages: Sequence[NewMessage] = ()
    closed: Sequence[ClosedVersion] = ()
    """Applied before `versions`, so that a fact has at most one open version."""
    versions: Sequence[NewVersion] = ()
    reinforced: Sequence[Reinforced] = ()
    sources: Sequence[Source] = ()
    history: Sequence[FactChange] = ()
    summaries: Sequence[NewSummary] = ()
    """Conflict if one covers a message that is covered already."""
    session_ttl: float | None = None
    """Seconds; sessions of the new messages are created, or kept alive, for that long."""
    facts_seen: int | None = None
    """The `fact_version` these decisions were made on: Conflict if facts have changed since."""
    jobs: Sequence[Job] = ()
    """Work that this gives, queued with it, in the epoch of that moment. No new message, no work of it."""
    finished_jobs: Sequence[str] = ()
    """Work that this completes, removed with it: Overtaken if one is gone, for then somebody else has done it."""
    epoch: int | None = None
    """The forget epoch that this rests on: Overtaken if there was a forget since."""

    @property
    def entries(self) -> list[Entry]:
        """What the indexes get to know by it."""
        said = [entry for new in self.messages for entry in new.entries]
        return [*said, *[new.entry for new in self.versions], *[new.entry for new in self.summaries]]


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageQuery:
    session: SessionId | None = None
    before: tuple[datetime, int] | None = None
    """Only messages older than this (moment, row number): the cursor."""
    limit: int = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class MessagePage:
    """Newest first; `next` goes into `MessageQuery.before` for the page after it, None at the end."""

    messages: Sequence[Message]
    next: tuple[datetime, int] | None


class Writing(Protocol):
    async def write(self, scope: Scope, *changes: Change) -> frozenset[MessageId]:
        """Write all changes, in their order, in one transaction, durable on return.

        Returns the ids of messages that were already there.

        A known message id is left as it is, whatever text it comes with now, and its entries are ignored.
        Raises Conflict if `facts_seen` is out of date or a fact would get two open versions, Overtaken if the epoch
        is, or a job was finished already, NotFound for a source message or fact that this scope does not have.
        Then nothing is written.
        """
        ...


class Beside(NamedTuple):
    """The messages next to one, in the order of time."""

    before: MessageId | None
    after: MessageId | None


class Messages(Protocol):
    async def messages_by_id(self, scope: Scope, ids: Sequence[MessageId]) -> Mapping[MessageId, Message]:
        """Return those that exist in this scope."""
        ...

    async def messages(self, scope: Scope, query: MessageQuery) -> MessagePage: ...

    async def beside(self, scope: Scope, messages: Sequence[MessageId]) -> Mapping[MessageId, Beside]:
        """Return what was said just before and just after each of these in its session; not for those without one."""
        ...


class Shown(NamedTuple):
    """What of the messages and versions of facts asked for exists in the scope, and what the messages taught."""

    messages: Mapping[MessageId, Message]
    facts: Mapping[tuple[FactId, int], Fact]
    taught: Mapping[MessageId, Sequence[Fact]]
    summaries: Mapping[SummaryId, Summary]


class Facts(Protocol):
    async def facts_by_id(self, scope: Scope, ids: Sequence[FactId]) -> Mapping[FactId, Fact]:
        """Return the latest version of those that exist in this scope, whether still believed or not."""
        ...

    async def versions_by_id(
        self, scope: Scope, keys: Sequence[tuple[FactId, int]]
    ) -> Mapping[tuple[FactId, int], Fact]:
        """Return these versions of facts, those that exist in this scope."""
        ...

    async def believed(self, scope: Scope, *, attributes: Sequence[tuple[str, str]] | None = None) -> Sequence[Fact]:
        """Return the open version of every fact still believed, ended ones included, oldest first.

        With `attributes`, only those of these (subject, attribute) pairs.
        """
        ...

    async def saying(self, scope: Scope, text: str) -> Sequence[Fact]:
        """Return the open version of every fact still believed whose text is exactly this, oldest first."""
        ...

    async def all_versions(self, scope: Scope) -> Sequence[Fact]:
        """Return every version of every fact, in the order of writing."""
        ...

    async def history(self, scope: Scope, fact: FactId) -> Sequence[FactVersion]:
        """Return every version of a fact, oldest first, with what led to it. Empty for an unknown id."""
        ...

    async def taught(self, scope: Scope, messages: Sequence[MessageId]) -> Mapping[MessageId, Sequence[Fact]]:
        """Return, for each message, the latest version of the facts it taught (not those it ended)."""
        ...

    async def shown(
        self,
        scope: Scope,
        messages: Sequence[MessageId],
        facts: Sequence[tuple[FactId, int]] = (),
        summaries: Sequence[SummaryId] = (),
    ) -> "Shown":
        """Return all that is needed to show what was found: one read at one moment, for the path that must be quick."""
        ...

    async def sources(self, scope: Scope, fact: FactId) -> Sequence[Source]: ...


class Blocks(Protocol):
    async def blocks(self, scope: Scope) -> Sequence[Block]:
        """Return the blocks in their order."""
        ...

    async def set_block(self, scope: Scope, block: Block, *, expected: Block | None = None) -> Block:
        """Insert or replace by name. An order of -1 means: keep its place, or the end for a new one.

        What it said before becomes a version. Raises Conflict if it is not what is expected when it is written.
        """
        ...

    async def append_block(
        self, scope: Scope, name: str, text: str, *, now: datetime, expected: Block | None = None
    ) -> Block:
        """Add text on a new line at the end, atomically; creates the block if it is not there."""
        ...

    async def delete_block(self, scope: Scope, name: str, *, expected: Block | None = None) -> bool:
        """Remove it and its versions; False if there is none."""
        ...

    async def block_history(self, scope: Scope, name: str) -> Sequence[BlockVersion]:
        """Return what it said, oldest first, and last what it says now; nothing for a block that is not there.

        Of the older ones the last BLOCK_VERSIONS are kept.
        """
        ...


class EmbeddingCache(Protocol):
    async def cached_embeddings(self, identity: str, digests: Sequence[bytes]) -> Mapping[bytes, bytes]: ...

    async def cache_embeddings(self, identity: str, vectors: Mapping[bytes, Vector], *, now: datetime) -> None: ...


class Ledger(
    IndexFeed,
    Writing,
    Messages,
    Facts,
    Blocks,
    Summaries,
    AttachmentRows,
    SessionStates,
    EmbeddingCache,
    JobLedger,
    Upkeep,
    Erasure,
    Archive,
    RetentionLedger,
    Leases,
    Protocol,
):
    """All of it, on one database."""
