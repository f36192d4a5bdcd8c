"""What the engine is made of, and the plain values that shape it. Wiring fills them in."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal

from commonplace.domain.errors import InvalidInput
from commonplace.domain.prices import Price
from commonplace.domain.retention import Retention
from commonplace.domain.scope import Scope
from commonplace.engine.following import Following
from commonplace.ports.attachments import AttachmentStore
from commonplace.ports.embedder import Embedder
from commonplace.ports.extractor import Extractor
from commonplace.ports.full_text import FullText
from commonplace.ports.index import IndexState, VectorIndex
from commonplace.ports.ledger import Ledger
from commonplace.ports.premises import Premises
from commonplace.ports.recent import Recent
from commonplace.ports.reranker import Reranker
from commonplace.ports.shared import SharedCopies
from commonplace.ports.snapshot_store import Seal, SnapshotStore
from commonplace.ports.summariser import Summariser
from commonplace.recall.reading import Readers
from commonplace.recall.tokens import count_tokens
from commonplace.recall.weights import Weights

IndexMode = Literal["auto", "exact", "chroma", "pgvector", "qdrant", "milvus"]
"""The name of an index: it answers everything, from the first item."""


def utc_now() -> datetime:
    return datetime.now(UTC)


def random_id() -> str:
    return os.urandom(16).hex()


def never(text: str) -> bool:
    return False


def no_store(place: str) -> SnapshotStore:
    raise InvalidInput(f"{place!r}: this memory was opened without a way to keep snapshots")


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    tenant: str = "default"
    index: IndexMode = "auto"
    exact_up_to: int = 30_000
    """Up to this many candidates are searched exactly, even when an index is there."""
    cache_bytes: int = 1 << 30
    """RAM for the matrices of users."""
    language: str = "en"
    relevance_weight: float = 0.5
    importance_weight: float = 0.3
    recency_weight: float = 0.2
    recency_half_life_days: float = 30.0
    min_relevance: float | None = None
    """None is the calibrated default."""
    session_ttl: float = 86_400.0
    ring: int = 100
    """How many messages a session's recent ones are at most."""
    retention: Retention = field(default_factory=Retention)
    purge_interval: float = 3_600.0
    """Seconds between two purges by a worker or service."""
    summarise_after: int = 4_000
    """Tokens of a session past which its older part is summed up; 0: never."""
    summary_tokens: int = 300
    """About how long a summary is."""
    snapshot_to: str | None = None
    snapshot_interval: float | None = None
    snapshot_keep: int = 14
    attachment_bytes: int = 25 << 20
    """How large an attachment may be."""
    attachment_types: str = "image/*,text/*,application/json,application/pdf"
    """The media types that may be attached."""
    learning_concurrency: int = 4
    """Jobs that run at once, each of another user."""
    learning_attempts: int = 5
    """After so many a job is buried."""
    learning_retry_delay: float = 1.0
    """Seconds before a job is tried again; doubled each time."""
    learning_lease: float = 60.0
    """Seconds that a job is kept by a worker that does not answer any more."""
    learning_price: Price | None = None
    """Of the model that learns. None: nobody has set it."""
    learning_tokens_per_day: int | None = None
    """When a tenant's jobs have used so many tokens, learning rests until the next day (UTC). None: no limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnEmbedders:
    """Who has an embedding model of their own. A user's comes before their tenant's."""

    tenants: Mapping[str, Embedder] = field(default_factory=dict)
    users: Mapping[Scope, Embedder] = field(default_factory=dict)

    def of(self, scope: Scope) -> Embedder | None:
        """Return the embedder of a user; None: the memory's."""
        own = self.users.get(scope)
        return self.tenants.get(scope.tenant) if own is None else own


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    ledger: Ledger
    embedder: Embedder
    index: VectorIndex | None
    extractor: Extractor | None
    """None: nothing is learned."""
    options: Options
    index_state: IndexState | None = None
    """How the index is doing; None: nobody counts."""
    summariser: Summariser | None = None
    """None: what was said is summed up by its own sentences."""
    full_text: FullText | None = None
    """Candidates by words for users beyond the memory budget; None: all their rows are looked at."""
    former_indexes: Sequence[VectorIndex] = ()
    """Not used any more, but they may hold something: what is forgotten goes from there, too."""
    reranker: Reranker | None = None
    """A second opinion on the order of the best; None: there is none."""
    planted: Callable[[str], bool] = never
    """Whether a text tries to give standing orders through memory."""
    count_tokens: Callable[[str], int] = count_tokens
    """What a text costs in a prompt, by the model's own tokenizer or by an estimate on the high side."""
    replacing_vectors: bool = False
    """The ledger holds another model's vectors, and they are to be made anew."""
    weights: Weights = Weights()
    """What each part of the ranking counts: no setting, but an evaluation may leave a part out."""
    recent: Recent | None = None
    """What has the last messages of a conversation at hand; None: the ledger is asked."""
    copies: SharedCopies | None = None
    """What other processes hold of the ledger, too; None: each is on its own."""
    premises: Premises | None = None
    """The folder it lives in, if it does."""
    open_store: Callable[[str], SnapshotStore] = no_store
    """Opens the place where snapshots are kept."""
    seal: Seal | None = None
    """Encrypts snapshots; None leaves them as they are."""
    attachments: AttachmentStore | None = None
    """Where the bytes of attachments are kept; None: there are none."""
    attachment_seal: Seal | None = None
    """Encrypts them; None leaves them as they are."""
    readers: Readers = field(default_factory=dict)
    """What reads the text in files of a media type that is not text itself."""
    following: Following | None = None
    """What `embedder` is, where the ledger can change to another model; None: it is one for good."""
    own: OwnEmbedders | None = None
    """The embedders of tenants and users that have one of their own; None: nobody has."""
    now: Callable[[], datetime] = utc_now
    new_id: Callable[[], str] = random_id

    def embedder_of(self, scope: Scope) -> Embedder:
        """Return the embedder that reads a user's texts."""
        own = None if self.own is None else self.own.of(scope)
        return self.embedder if own is None else own

    @property
    def generation(self) -> int:
        """Which generation of vectors the embedder belongs to."""
        return 0 if self.following is None else self.following.generation

    @property
    def outdated(self) -> bool:
        """Whether the ledger was last seen to hold vectors of another generation than the embedder's."""
        return self.following is not None and self.following.outdated

    async def follow(self) -> None:
        """Take the model whose vectors the ledger holds now."""
        if self.following is not None:
            await self.following.follow()
