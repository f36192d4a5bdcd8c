"""What calls return: frozen, plain values."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Generic, Literal, TypeVar

from commonplace.domain.receipts import Receipt
from commonplace.domain.usage import NOTHING, Usage
from commonplace.domain.values import (
    Block,
    Fact,
    FactChange,
    Json,
    Kind,
    Message,
    MessageId,
    Recalled,
    SessionInfo,
    Why,
)

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Added:
    """What `add` did. The messages are durable and can be found."""

    messages: tuple[MessageId, ...]
    changes: tuple[FactChange, ...] = ()
    """What was learned now."""
    pending: int = 0
    """How many messages are still to be learned from."""
    jobs: tuple[str, ...] = ()
    """The queued work of learning from them; `settle` waits for it."""
    notes: tuple[str, ...] = ()
    """What the caller should know, e.g. that no embedding model could be had."""


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """One page of a longer list: iterate it, and ask again with `next_cursor` unless that is None."""

    items: tuple[T, ...]
    next_cursor: str | None = None

    def __iter__(self) -> Iterator[T]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, index: int) -> T:
        return self.items[index]


@dataclass(frozen=True, slots=True)
class Folded:
    """Something found that another item stands for."""

    id: str
    into: str
    """The id of that item."""
    how: Literal["duplicate", "stood for"]


class Recollection(list[Recalled]):
    """The things found, the best first. `notes` says what was different from usual, e.g. no embedding model."""

    def __init__(
        self, items: Iterable[Recalled] = (), *, notes: Sequence[str] = (), folded: Sequence[Folded] = ()
    ) -> None:
        super().__init__(items)
        self.notes = tuple(notes)
        self.folded = tuple(folded)
        """What was found as well, and is not shown because another item stands for it."""


WhyNotReason = Literal[
    "returned",
    "unknown",
    "retracted",
    "ended",
    "not yet",
    "expired",
    "filtered",
    "not found",
    "not compared",
    "irrelevant",
    "beyond the limit",
    "duplicate",
    "stood for",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class WhyNot:
    """Why a message or fact was not among the results of a query."""

    id: str
    reason: WhyNotReason
    """`unknown` also where it is somebody else's."""
    explanation: str
    """The same in a sentence, with the numbers."""
    kind: Kind | None = None
    text: str | None = None
    since: datetime | None = None
    """When it was retracted, ended or expired."""
    message: MessageId | None = None
    """The message that led to that."""
    by: str | None = None
    """The item that is shown instead, or the fact that replaced it."""
    filters: tuple[str, ...] = ()
    """Those that leave it out, by the names of the arguments."""
    rank: int | None = None
    """Its place, from 1."""
    relevance: float | None = None
    threshold: float | None = None
    why: Why | None = None
    """Its numbers …"""
    last: Recalled | None = None
    """… and, with its own, the last item that was returned."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """Recalled things, packed into a token budget. `str()` of it goes into a prompt."""

    text: str
    tokens: int
    budget: int
    items: tuple[Recalled, ...] = ()
    around: tuple[Recalled, ...] = ()
    """Messages that stand beside those found, because they help to understand them."""
    blocks: tuple[Block, ...] = ()
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """What a prompt needs of a conversation, what changes least first: that is what prompt caches want.

    `str()` of it is all of it; its parts can be put where a prompt has a place for them.
    """

    blocks: str
    """Fenced, as in a context; empty if there are none."""
    summary: str
    """What the older part of the conversation comes down to, fenced."""
    messages: tuple[Message, ...]
    """The last ones, oldest first, as they were said."""
    transcript: tuple[str, ...]
    """The same messages, each on one line with its speaker."""
    context: Context | None
    """What was recalled for the last thing the user said; it changes with every turn."""
    tokens: int
    """Of the whole text."""
    budget: int

    def __str__(self) -> str:
        said = "\n".join(self.transcript)
        parts = (self.blocks, self.summary, said, "" if self.context is None else self.context.text)
        return "\n".join(part for part in parts if part)

    def without(self, messages: int) -> "Window":
        """Return it without so many of the oldest messages."""
        return replace(self, messages=self.messages[messages:], transcript=self.transcript[messages:])

    def counted(self, tokens: int) -> "Window":
        return replace(self, tokens=tokens)


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """One user at a glance."""

    user: str | None
    messages: int
    facts: int
    blocks: int
    last_seen: datetime | None
    sessions: tuple[SessionInfo, ...]
    sample: tuple[Fact, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionStats:
    user: str | None
    rows: int
    answered_by: str
    """`exact`, or the name of the index."""
    waiting: int
    """Writes that the index has not been given yet; all of them, while it cannot be asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Learning:
    """What learning with a model has cost today (UTC), and whether it may go on."""

    usage: Usage = NOTHING
    tokens_per_day: int | None = None
    """The budget; None for no limit."""
    paused: str = ""
    """Why it rests until tomorrow; empty while it does not."""
    cost: float | None = None
    """Of the usage, by the prices that are set (`model_prices`); None where the model has none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Relearned:
    """What learning everything anew changes, or would change. Facts written or changed by hand are left alone."""

    extractor: str
    messages: int
    """How many were read."""
    added: tuple[Fact, ...]
    removed: tuple[Fact, ...]
    changed: tuple[tuple[Fact, Fact], ...]
    """Each as it was, and as it is to be."""
    applied: bool
    usage: Usage = NOTHING


@dataclass(frozen=True, slots=True, kw_only=True)
class JobInfo:
    """A message that is still to be learned from, or a stretch of messages that is still to be summed up."""

    id: str
    kind: str = "learn"
    """`learn` or `summarise`."""
    user: str | None
    message: MessageId
    """The first of them, of a stretch."""
    status: Literal["queued", "running", "dead"]
    attempts: int
    run_at: datetime
    error: str = ""
    """Why the last attempt failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stats:
    tenant: str
    counts: Mapping[str, int]
    bytes_on_disk: int
    embedder: str
    """The model of everybody who has none of their own."""
    index: str
    exact_up_to: int
    partitions: tuple[PartitionStats, ...]
    """The largest ones."""
    collections: Mapping[str, int] = field(default_factory=dict)
    """The index's own count of rows by collection; empty while it answers nobody, or does not answer."""
    index_calls: Mapping[str, int] = field(default_factory=dict)
    """What the index did so far for this process; `up` is 1 or 0. Empty where none is used."""
    cache: Mapping[str, int] = field(default_factory=dict)
    jobs: Mapping[str, int] = field(default_factory=dict)
    copies: Mapping[str, int] = field(default_factory=dict)
    """What Redis did so far for this process; `up` is 1 or 0. Empty where none is used."""
    own_embedders: Mapping[str, int] = field(default_factory=dict)
    """Models that users have of their own, with how many have each."""
    learning: Learning = field(default_factory=Learning)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something that is not as it should be, with what it means."""

    check: str
    severity: Literal["note", "warning", "error"]
    message: str
    means: str = ""
    """What follows from it, and what to do."""
    repaired: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkup:
    """What `doctor` found."""

    findings: tuple[Finding, ...]
    checks: tuple[str, ...]

    @property
    def healthy(self) -> bool:
        return all(finding.repaired or finding.severity == "note" for finding in self.findings)


@dataclass(frozen=True, slots=True, kw_only=True)
class Purged:
    """What had expired, or was older than its retention allows, and is forgotten; or what would be."""

    at: datetime
    receipts: tuple[Receipt, ...]
    """One for each user of whom something was due."""
    held: tuple[str | None, ...] = ()
    """Users of whom something was due, and who are on hold."""
    applied: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Consolidated:
    """What `consolidate` did, or would do. A second time there is nothing left to do."""

    expired: int = 0
    """Messages and facts that were due, and are forgotten."""
    merged: int = 0
    """Facts that said the same as another one, and have become part of it."""
    reweighed: int = 0
    """Facts that matter more than was known, because they were said again."""
    summarised: int = 0
    """Stretches of sessions that are over, which were summed up, or queued for the model."""
    users: int = 1
    applied: bool

    def __add__(self, other: "Consolidated") -> "Consolidated":
        return Consolidated(
            expired=self.expired + other.expired,
            merged=self.merged + other.merged,
            reweighed=self.reweighed + other.reweighed,
            summarised=self.summarised + other.summarised,
            users=self.users + other.users,
            applied=self.applied,
        )

    @property
    def changed(self) -> bool:
        return bool(self.expired or self.merged or self.reweighed or self.summarised)

    def __str__(self) -> str:
        done = [
            (self.expired, "expired"),
            (self.merged, "merged"),
            (self.reweighed, "weighed anew"),
            (self.summarised, "summarised"),
        ]
        told = ", ".join(f"{number:,} {what}" for number, what in done if number) or "nothing to do"
        return told if self.applied or not self.changed else f"would be: {told}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reindexed:
    rows: int
    embedded: int
    collections: int


SessionState = Mapping[str, Json]
