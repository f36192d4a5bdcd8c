"""What one user holds, in dictionaries, and how a change is applied to it."""

import copy
import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

import numpy as np

from commonplace.domain.errors import Conflict, InvalidInput, NotFound, Overtaken
from commonplace.domain.times import to_micros
from commonplace.domain.values import (
    Block,
    BlockVersion,
    Fact,
    FactChange,
    FactId,
    Json,
    Message,
    MessageId,
    Metadata,
    SessionId,
    Source,
    Summary,
    SummaryId,
)
from commonplace.ports.ledger import (
    Change,
    ClosedVersion,
    Entry,
    FactRow,
    Feed,
    MessageRow,
    NewMessage,
    NewSummary,
    NewVersion,
    Reinforced,
    Versions,
)
from commonplace.ports.models import made_by


@dataclass(frozen=True, slots=True)
class Passage:
    message: Message
    first: int
    entry: Entry
    changed: int


@dataclass(frozen=True, slots=True)
class Version:
    fact: Fact
    n: int
    terms: bytes
    changed: int


@dataclass(frozen=True, slots=True)
class Stretch:
    summary: Summary
    n: int
    terms: bytes
    changed: int


@dataclass(frozen=True, slots=True)
class Session:
    started_at: datetime
    last_seen: datetime
    expires_at: datetime
    ended_at: datetime | None = None
    state: dict[str, Json] = field(default_factory=dict)

    def lives(self, now: datetime) -> bool:
        return self.ended_at is None and self.expires_at > now


@dataclass(slots=True)
class Partition:
    no: int
    version: int = 0
    fact_version: int = 0
    epoch: int = 0
    next_row: int = 1
    messages: dict[MessageId, tuple[int, Message]] = field(default_factory=dict)
    passages: dict[int, Passage] = field(default_factory=dict)
    facts: dict[tuple[FactId, int], Version] = field(default_factory=dict)
    summaries: dict[SummaryId, Stretch] = field(default_factory=dict)
    vectors: dict[int, bytes] = field(default_factory=dict)
    tokens: dict[int, bytes | None] = field(default_factory=dict)
    aside: dict[int, tuple[bytes, bytes | None]] = field(default_factory=dict)
    """Vectors and tokens of another model than the one in use."""
    generation: int = 0
    model: str | None = None
    """Whose vectors these are."""
    own_model: bool = False
    """Whether they are of another model than everybody's, and stay so."""
    sources: list[Source] = field(default_factory=list)
    history: list[FactChange] = field(default_factory=list)
    blocks: dict[str, Block] = field(default_factory=dict)
    block_versions: dict[str, tuple[BlockVersion, ...]] = field(default_factory=dict)
    sessions: dict[SessionId, Session] = field(default_factory=dict)
    delivered: dict[str, int] = field(default_factory=dict)
    removed: dict[int, int] = field(default_factory=dict)
    """The numbers of rows that were forgotten, with the version that removed them."""

    @property
    def versions(self) -> Versions:
        rows = len(self.passages) + len(self.facts) + len(self.summaries)
        own = self.model if self.own_model else None
        return Versions(self.no, self.version, self.fact_version, rows, self.generation, own)

    @property
    def holds_something(self) -> bool:
        return bool(self.messages or self.facts or self.blocks or self.sessions)

    def draft(self) -> "Partition":
        """Return a copy to work on, so that a change that fails half-way leaves nothing behind."""
        draft = copy.copy(self)
        draft.messages, draft.passages, draft.facts = dict(self.messages), dict(self.passages), dict(self.facts)
        draft.vectors, draft.tokens, draft.aside = dict(self.vectors), dict(self.tokens), dict(self.aside)
        draft.sources, draft.history = list(self.sources), list(self.history)
        draft.sessions, draft.summaries = dict(self.sessions), dict(self.summaries)
        return draft

    def apply(self, change: Change) -> frozenset[MessageId]:
        """Write it, as `ports.ledger.Writing` promises. Call it on a draft."""
        if change.epoch is not None and change.epoch != self.epoch:
            raise Overtaken("there was a forget since this was read")
        if change.facts_seen is not None and change.facts_seen != self.fact_version:
            raise Conflict("the facts of this user have changed since they were read")
        before = self.messages.keys() - ()
        for new in change.messages:
            self.add_message(new, session_ttl=change.session_ttl)
        of_facts = bool(change.closed or change.versions or change.reinforced or change.sources or change.history)
        if of_facts:
            self._apply_to_facts(change)
            self.fact_version += 1
        for summary in change.summaries:
            self.add_summary(summary)
        if of_facts or change.summaries or len(self.messages) > len(before):
            self.version += 1
        return frozenset(new.message.id for new in change.messages) & before

    def _apply_to_facts(self, change: Change) -> None:
        for closed in change.closed:
            self.close(closed)
        for new in change.versions:
            self.add_version(new)
        for reinforced in change.reinforced:
            self._reinforce(reinforced)
        for source in change.sources:
            self.add_source(source)
        for entry in change.history:
            self.add_change(entry)

    def add_message(self, new: NewMessage, *, session_ttl: float | None) -> None:
        if not new.entries:
            raise InvalidInput(f"message {new.message.id!r} has no entries: expected at least one")
        if new.message.id in self.messages:
            return
        message = replace(new.message, metadata=copy.deepcopy(dict(new.message.metadata)))
        first = self.next_row
        self.messages[message.id] = (first, message)
        for entry in new.entries:
            self.passages[self.next_row] = Passage(message, first, entry, self.version + 1)
            self._take_row(entry)
        if session_ttl is not None and message.session is not None:
            self.keep_alive(message.session, now=message.recorded_at, ttl=session_ttl)

    def add_summary(self, new: NewSummary) -> None:
        """Write a summary. Raises NotFound for a message that is not there, Conflict for one that is covered."""
        covered = {message for one in self.summaries.values() for message in one.summary.messages}
        for message in new.summary.messages:
            self._find_message(message)
        if covered & set(new.summary.messages):
            raise Conflict(f"a message of summary {new.summary.id!r} is covered by another summary")
        said = sorted((self.messages[id_][1].at, self.messages[id_][0], id_) for id_ in new.summary.messages)
        summary = replace(new.summary, messages=tuple(id_ for _, _, id_ in said))
        self.summaries[summary.id] = Stretch(summary, self._take_row(new.entry), new.entry.terms, self.version + 1)

    def _take_row(self, entry: Entry) -> int:
        n = self.next_row
        self.next_row += 1
        if entry.vector is not None and made_by(self.model, entry.model):
            self.vectors[n] = np.asarray(entry.vector, dtype=np.float32).tobytes()
            self.tokens[n] = entry.tokens
        return n

    def close(self, closed: ClosedVersion) -> None:
        version = self._find_open(closed.fact, closed.version)
        self._put(version, replace(version.fact, retracted_at=closed.retracted_at, replaced_by=closed.replaced_by))

    def add_version(self, new: NewVersion) -> None:
        fact = replace(new.fact, metadata=copy.deepcopy(dict(new.fact.metadata)), sources=())
        if (fact.id, fact.version) in self.facts:
            raise Conflict(f"fact {fact.id!r} has a version {fact.version} already")
        if fact.retracted_at is None and any(one.fact.retracted_at is None for one in self.versions_of(fact.id)):
            raise Conflict(f"fact {fact.id!r} has an open version already")
        self._put(Version(fact, self._take_row(new.entry), new.entry.terms, 0), fact)

    def _reinforce(self, reinforced: Reinforced) -> None:
        version = self._find_open(reinforced.fact, reinforced.version)
        importance = version.fact.importance if reinforced.importance is None else reinforced.importance
        self._put(version, replace(version.fact, confidence=reinforced.confidence, importance=importance))

    def add_source(self, source: Source) -> None:
        versions = list(self.versions_of(source.fact))
        if not versions:
            raise NotFound("fact", source.fact)
        self._find_message(source.message)
        if source not in self.sources:
            self.sources.append(source)
        for version in versions:
            self._put(version, version.fact)

    def add_change(self, change: FactChange) -> None:
        self._find_version(change.fact, change.version)
        if change.message is not None:
            self._find_message(change.message)
        self.history.append(change)

    def _put(self, version: Version, fact: Fact) -> None:
        self.facts[fact.id, fact.version] = replace(version, fact=fact, changed=self.version + 1)

    def _find_message(self, message: MessageId) -> None:
        if message not in self.messages:
            raise NotFound("message", message)

    def _find_version(self, fact: FactId, version: int) -> Version:
        try:
            return self.facts[fact, version]
        except KeyError:
            raise NotFound("fact", fact) from None

    def _find_open(self, fact: FactId, version: int) -> Version:
        found = self._find_version(fact, version)
        if found.fact.retracted_at is not None:
            raise Conflict(f"version {version} of fact {fact!r} is closed already")
        return found

    def versions_of(self, fact: FactId) -> Iterator[Version]:
        return (version for (id_, _), version in sorted(self.facts.items(), key=_key) if id_ == fact)

    def said(self, fact: FactId) -> tuple[MessageId, ...]:
        return tuple(dict.fromkeys(one.message for one in self.sources if one.fact == fact and one.role == "said"))

    def whole(self, version: Version) -> Fact:
        return replace(version.fact, sources=self.said(version.fact.id))

    def set_vector(self, n: int, vector: bytes, tokens: bytes | None) -> None:
        if n in self.passages:
            self.passages[n] = replace(self.passages[n], changed=self.version + 1)
        elif any(version.n == n for version in self.facts.values()):
            (version,) = (version for version in self.facts.values() if version.n == n)
            self._put(version, version.fact)
        elif stretch := next((one for one in self.summaries.values() if one.n == n), None):
            self.summaries[stretch.summary.id] = replace(stretch, changed=self.version + 1)
        else:
            return
        self.vectors[n], self.tokens[n] = vector, tokens

    def switch(self, *, generation: int, model: str) -> None:
        """Let the vectors in use and those aside change places, unless they are of a model of the user's own."""
        self.generation = generation
        if self.own_model:
            return
        before = {n: (vector, self.tokens.get(n)) for n, vector in self.vectors.items()}
        self.vectors = {n: vector for n, (vector, _) in self.aside.items()}
        self.tokens = {n: tokens for n, (_, tokens) in self.aside.items()}
        self.aside, self.model = before, model

    def keep_alive(self, session: SessionId, *, now: datetime, ttl: float) -> Session:
        known = self.sessions.get(session)
        if known is None:
            known = Session(started_at=now, last_seen=now, expires_at=now)
        last_seen = max(known.last_seen, now)
        kept = replace(
            known,
            last_seen=last_seen,
            expires_at=last_seen + timedelta(microseconds=round(ttl * 1_000_000)),
            ended_at=None,
            state=known.state if known.lives(now) else {},
        )
        self.sessions[session] = kept
        return kept

    @property
    def numbers(self) -> list[int]:
        facts, summaries = self.facts.values(), self.summaries.values()
        return [*self.passages, *(version.n for version in facts), *(one.n for one in summaries)]

    def feed(self, numbers: frozenset[int], *, vectors: bool) -> Feed:
        messages = [
            self.message_row(n, self.passages[n], vectors=vectors) for n in sorted(numbers & self.passages.keys())
        ]
        facts = [self.fact_row(version, vectors=vectors) for version in self.facts.values() if version.n in numbers]
        facts += [self.summary_row(one, vectors=vectors) for one in self.summaries.values() if one.n in numbers]
        return Feed(self.versions, messages, sorted(facts, key=lambda row: row.n), [])

    def message_row(self, n: int, passage: Passage, *, vectors: bool) -> MessageRow:
        message, entry = passage.message, passage.entry
        return MessageRow(
            n=n,
            first=passage.first,
            id=message.id,
            session=message.session,
            role=message.role,
            name=message.name,
            agent=message.agent,
            at=to_micros(message.at),
            expires_at=_micros(message.expires_at),
            metadata=_json(message.metadata),
            start=entry.start,
            stop=entry.stop,
            terms=entry.terms,
            vector=self.vectors.get(n) if vectors else None,
            tokens=self.tokens.get(n) if vectors else None,
        )

    def fact_row(self, version: Version, *, vectors: bool) -> FactRow:
        fact = version.fact
        sessions = dict.fromkeys(self.messages[message][1].session for message in self.said(fact.id))
        named = [session for session in sessions if session is not None]
        return FactRow(
            n=version.n,
            id=fact.id,
            version=fact.version,
            kind=fact.kind,
            confidence=fact.confidence,
            importance=fact.importance,
            said_at=to_micros(fact.said_at),
            valid_from=_micros(fact.valid_from),
            valid_to=_micros(fact.valid_to),
            recorded_at=to_micros(fact.recorded_at),
            retracted_at=_micros(fact.retracted_at),
            expires_at=_micros(fact.expires_at),
            metadata=_json(fact.metadata),
            sessions=json.dumps(named) if named else None,
            terms=version.terms,
            vector=self.vectors.get(version.n) if vectors else None,
            tokens=self.tokens.get(version.n) if vectors else None,
        )

    def summary_row(self, one: Stretch, *, vectors: bool) -> FactRow:
        summary = one.summary
        return FactRow(
            n=one.n,
            id=summary.id,
            version=1,
            kind="summary",
            confidence=1.0,
            importance=0.5,
            said_at=to_micros(summary.until),
            valid_from=None,
            valid_to=None,
            recorded_at=to_micros(summary.made_at),
            retracted_at=None,
            expires_at=_micros(summary.expires_at),
            metadata=None,
            sessions=json.dumps([summary.session]),
            terms=one.terms,
            vector=self.vectors.get(one.n) if vectors else None,
            tokens=self.tokens.get(one.n) if vectors else None,
        )


def _key(item: tuple[tuple[FactId, int], Version]) -> tuple[FactId, int]:
    return item[0]


def _micros(moment: datetime | None) -> int | None:
    return None if moment is None else to_micros(moment)


def _json(metadata: Metadata) -> str | None:
    return json.dumps(dict(metadata), allow_nan=False) if metadata else None
