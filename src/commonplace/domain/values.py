"""The values that callers see: frozen, plain, and the same in every interface."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, NewType

from commonplace.domain.errors import InvalidInput

MessageId = NewType("MessageId", str)
FactId = NewType("FactId", str)
SessionId = NewType("SessionId", str)
SummaryId = NewType("SummaryId", str)
AttachmentId = NewType("AttachmentId", str)

Role = Literal["user", "assistant", "system", "tool"]
FactKind = Literal["fact", "preference", "semantic", "context"]
Kind = Literal["fact", "preference", "semantic", "context", "message", "summary"]

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]
Metadata = Mapping[str, Json]

HEXADECIMAL = re.compile("[0-9a-f]{64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """A file that a message carries. Its bytes are kept beside the ledger, for this user alone."""

    id: AttachmentId
    """The SHA-256 of its bytes, in hexadecimal: the same bytes are the same attachment."""
    type: str
    """Its media type, as `image/png`."""
    size: int
    name: str | None = None
    caption: str = ""
    text: str = ""
    """What can be read in it, if anything; it is searched with the message."""

    def __post_init__(self) -> None:
        # It becomes the name of a file, and an import brings it from anywhere.
        if not HEXADECIMAL.fullmatch(self.id):
            raise InvalidInput(f"attachment={self.id[:80]!r}: expected an id of 64 hexadecimal digits")


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One utterance, verbatim."""

    id: MessageId
    role: Role
    text: str
    at: datetime
    """When it was said."""
    recorded_at: datetime
    """When we were told."""
    session: SessionId | None = None
    name: str | None = None
    """Who spoke, where the role does not say it."""
    agent: str | None = None
    metadata: Metadata = field(default_factory=dict)
    expires_at: datetime | None = None
    attachments: tuple[Attachment, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One atomic statement, as one version of it.

    World time is `valid_from <= t < valid_to`; None is open. Knowledge time is `recorded_at <= t < retracted_at`:
    a version that was revised or closed later is retracted at that moment and a next version takes its place.
    """

    id: FactId
    text: str
    kind: FactKind = "fact"
    confidence: float = 1.0
    importance: float = 0.5
    said_at: datetime
    """When it was said: the moment of its first message, or of the call that wrote it."""
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    recorded_at: datetime
    retracted_at: datetime | None = None
    sources: tuple[MessageId, ...] = ()
    metadata: Metadata = field(default_factory=dict)
    expires_at: datetime | None = None
    version: int = 1
    replaced_by: FactId | None = None
    subject: str = "user"
    attribute: str = ""
    """What the fact is about ("home", "uses"); empty for a fact written by hand. Only equal attributes can conflict."""
    value: str = ""
    extractor: str = ""
    """Who read it out of the message, with its version; empty for a fact written by hand."""

    def holds(self, now: datetime) -> bool:
        """Whether it is believed, and has neither ended nor expired."""
        return all(end is None or end > now for end in (self.retracted_at, self.valid_to, self.expires_at))


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Why a fact is believed: the words of a message."""

    fact: FactId
    message: MessageId
    start: int
    stop: int
    role: Literal["said", "ended"] = "said"
    """`said` taught the fact, `ended` closed it."""


ChangeKind = Literal[
    "remembered", "learned", "reinforced", "revised", "refined", "replaced", "ended", "retracted", "restored"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class FactChange:
    """One entry in the history of a fact: what happened, when, why, and because of which message."""

    fact: FactId
    version: int
    """The version that holds after the change."""
    change: ChangeKind
    at: datetime
    reason: str = ""
    message: MessageId | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FactVersion:
    """A version of a fact with what led to it: one line of `history`."""

    fact: Fact
    changes: tuple[FactChange, ...]

    @property
    def text(self) -> str:
        return self.fact.text

    @property
    def valid_from(self) -> datetime | None:
        return self.fact.valid_from

    @property
    def valid_to(self) -> datetime | None:
        return self.fact.valid_to

    @property
    def recorded_at(self) -> datetime:
        return self.fact.recorded_at

    @property
    def retracted_at(self) -> datetime | None:
        return self.fact.retracted_at

    @property
    def sources(self) -> tuple[MessageId, ...]:
        """The messages that led to this version; none for one written by hand."""
        return tuple(dict.fromkeys(change.message for change in self.changes if change.message is not None))


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A small named text that is always in the prompt."""

    name: str
    text: str
    order: int
    updated_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockVersion:
    """What a block said, from when, and until when; `until` is None for what it says now."""

    name: str
    text: str
    since: datetime
    until: datetime | None = None


BLOCK_VERSIONS = 50
"""How many older versions of a block are kept: one that grows by a line each day must not grow without end."""

EXTRACTIVE = "extractive/1"
"""The author of a summary that no model wrote: sentences of its messages, word for word."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """What an older stretch of a session comes down to, with the messages that it covers."""

    id: SummaryId
    session: SessionId
    text: str
    messages: tuple[MessageId, ...]
    """In the order of time."""
    since: datetime
    """When the first of them was said."""
    until: datetime
    """When the last of them was said."""
    made_at: datetime
    author: str
    """The model and its prompt, or `EXTRACTIVE`."""
    expires_at: datetime | None = None
    """When the first of its messages expires: it says what they said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionInfo:
    """One conversation, as it is listed."""

    id: SessionId
    started_at: datetime
    last_seen: datetime
    expires_at: datetime
    messages: int
    ended_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Why:
    """Why an item was returned, and at this place: every number that made the order."""

    relevance: float
    importance: float
    recency: float
    arms: Mapping[str, tuple[int, float]] = field(default_factory=dict)
    """For each arm that found it: its rank, from 1, and its score there."""
    parts: Mapping[str, float] = field(default_factory=dict)
    """What was added up to the fused score, by name."""
    fused: float = 0.0
    """Their sum: only good for the order within one search."""
    evidence: Mapping[str, float] = field(default_factory=dict)
    """What the relevance of the best item was made of; that of the others follows from how far they are behind it."""
    threshold: float = 0.0
    """What is less relevant was not returned."""
    weights: Mapping[str, float] = field(default_factory=dict)
    """What relevance, importance and recency count in the score."""
    rerank: tuple[int, float] | None = None
    """Its rank, from 1, and its score by the reranker, if there is one."""
    path: str = "exact"
    """What answered: `exact` or `chroma`; beyond the memory budget `full text`, with or without `chroma`, or slabs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled:
    """One thing found."""

    text: str
    kind: Kind
    id: str
    at: datetime
    score: float
    """0..1: 0.5 relevance + 0.3 importance + 0.2 recency, by default."""
    relevance: float
    """0..1: how likely it is that this answers."""
    sources: tuple[MessageId, ...] = ()
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    session: SessionId | None = None
    role: Role | None = None
    name: str | None = None
    passage: str | None = None
    """The part of a long message that matched; None when it is the whole text."""
    said: str | None = None
    """The words of the message that a fact stands for: found as well, and not shown as a result of its own."""
    note: str | None = None
    """What has changed since it was said, e.g. "Magnet: no longer, since 12 May 2026"."""
    metadata: Metadata = field(default_factory=dict)
    attachments: tuple[Attachment, ...] = ()
    """What a message carries, without the text that was read in it."""
    why: Why | None = None
