"""A partition that is being written to: it hands out row numbers, and keeps them until the server knows them.

Rows are gathered and written together, so who looks into the database in between has to `flush` first.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from commonplace.adapters.postgres import attachments, full_text, partitions, sessions
from commonplace.adapters.postgres import messages as said
from commonplace.adapters.postgres.columns import (
    Connection,
    metadata_column,
    optional_micros,
    optional_text_column,
    text_column,
    text_of,
    vector_column,
)
from commonplace.adapters.postgres.full_text import Unpack
from commonplace.adapters.postgres.gathering import Gathered
from commonplace.adapters.postgres.jobs import new_columns
from commonplace.adapters.postgres.partitions import Partition
from commonplace.domain.errors import Conflict, InvalidInput, NotFound
from commonplace.domain.times import to_micros
from commonplace.domain.values import Fact, FactChange, FactId, Message, MessageId, Source
from commonplace.ports.jobs import Job
from commonplace.ports.ledger import Change, ClosedVersion, Entry, NewMessage, NewSummary, NewVersion, Reinforced
from commonplace.ports.models import made_by


@dataclass(slots=True)
class _Known:
    """A fact that is there, or about to be."""

    first: int
    versions: set[int] = field(default_factory=set)
    is_open: bool = False


@dataclass(slots=True)
class Writer:
    """A partition, locked, that is being written to. It hands out row numbers."""

    connection: Connection
    partition: Partition
    unpack: Unpack | None
    next_row: int = field(init=False)
    changed: int = field(init=False)
    """The stamp of this change."""
    _gathered: Gathered = field(init=False)
    _messages: dict[MessageId, int] = field(default_factory=dict)
    """Rows of messages, as far as they are known here."""
    _facts: dict[FactId, _Known] = field(default_factory=dict)
    _messages_asked: set[MessageId] = field(default_factory=set)
    _facts_asked: set[FactId] = field(default_factory=set)
    _waiting: set[tuple[FactId, int]] = field(default_factory=set)
    """Versions that are gathered, and not written yet."""
    _stamped: set[int] = field(default_factory=set)
    """First rows of older facts that have to be fed again."""

    def __post_init__(self) -> None:
        self.next_row = self.partition.base | self.partition.next_row
        self.changed = self.partition.base | (self.partition.version + 1)
        self._gathered = Gathered(self.connection)

    @property
    def added(self) -> int:
        return (self.next_row & partitions.N_MASK) - self.partition.next_row

    def knows(self, messages: Mapping[MessageId, int], *, asked: Iterable[MessageId]) -> None:
        """Take over the rows of messages that somebody has looked up: of those asked for, there are no others."""
        self._messages.update(messages)
        self._messages_asked.update(asked)

    async def enqueue(self, jobs: Sequence[Job]) -> None:
        """Queue work in the epoch of this moment."""
        for job in jobs:
            await self._gathered.insert("jobs", new_columns(replace(job, epoch=self.partition.epoch)))

    async def finish(self, *, of_facts: bool) -> None:
        self._gathered.also(
            "update partitions set version = version + 1, fact_version = fact_version + %s, next_row = next_row + %s,"
            " rows = rows + %s where no = %s",
            (int(of_facts), self.added, self.added, self.partition.no),
        )
        await self.flush()

    async def flush(self) -> None:
        """Write what is gathered. Who looks into the database has to call it first."""
        await self._gathered.write()
        self._waiting.clear()
        if self._stamped:
            older, self._stamped = list(self._stamped), set()
            await self.connection.execute("update facts set changed = %s where first = any(%s)", (self.changed, older))

    async def messages(self, messages: Sequence[NewMessage], *, session_ttl: float | None) -> frozenset[MessageId]:
        """Write those that are new. Returns the ids of those that were there."""
        for new in messages:
            if not new.entries:
                raise InvalidInput(f"message {new.message.id!r} has no entries: expected at least one")
        known = await self._find_messages([new.message.id for new in messages])
        for new in messages:
            if await self.insert_message(new.message):
                await self.insert_passages(new.entries)
        if session_ttl is not None:
            self._keep_sessions([new.message for new in messages if new.message.id not in known], session_ttl)
        return known

    async def _find_messages(self, ids: Sequence[MessageId]) -> frozenset[MessageId]:
        missing = {id_ for id_ in ids if id_ not in self._messages} - self._messages_asked
        if missing:
            self._messages_asked |= missing
            rows = await self.connection.execute(
                "select id, row from messages where partition = %s and id = any(%s)",
                (self.partition.no, [text_column(id_) for id_ in missing]),
            )
            self._messages.update({MessageId(text_of(id_)): row for id_, row in await rows.fetchall()})
        return frozenset(ids) & self._messages.keys()

    async def insert_message(self, message: Message) -> bool:
        """Return whether it is new. Then its passages have to follow."""
        if await self._find_messages([message.id]):
            return False
        self._messages[message.id] = self.next_row
        await self._gathered.insert("messages", (self.next_row, self.partition.no, *said.columns_of(message)))
        for place, one in enumerate(message.attachments):
            await self._gathered.insert("attachments", attachments.columns_of(self.next_row, place, one))
        return True

    async def insert_passages(self, entries: Sequence[Entry]) -> None:
        first = self.next_row
        for entry in entries:
            await self._gathered.insert(
                "passages", (self.next_row, first, self.changed, entry.start, entry.stop, entry.terms)
            )
            await self._index(entry)

    def _keep_sessions(self, messages: Sequence[Message], ttl: float) -> None:
        for session, seen in sessions.latest(messages):
            self._gathered.also(*sessions.kept_alive(self.partition.no, session, now=seen, ttl=ttl))

    async def _index(self, entry: Entry) -> None:
        """Keep what the indexes hold about the next row, and go on to the one after it."""
        # Another model may have taken the place of its own since it was embedded.
        if entry.vector is not None and made_by(self.partition.model, entry.model):
            await self._gathered.insert(
                self.partition.vectors, (self.next_row, vector_column(entry.vector), entry.tokens)
            )
        if self.partition.full_text:
            if self.unpack is None:
                await full_text.give_up(self.connection, self.partition)
            else:
                await full_text.add(self.connection, self.next_row, entry.terms, unpack=self.unpack)
        self.next_row += 1

    async def facts(self, change: Change) -> None:
        await self._find_facts(
            [
                *(one.fact.id for one in change.versions),
                *(one.fact for one in change.closed),
                *(one.fact for one in change.reinforced),
                *(one.fact for one in change.sources),
                *(one.fact for one in change.history),
            ]
        )
        for closed in change.closed:
            await self.close(closed)
        for new in change.versions:
            await self.insert_version(new)
        for reinforced in change.reinforced:
            await self._reinforce(reinforced)
        for source in change.sources:
            await self.insert_source(source)
        for entry in change.history:
            await self.insert_history(entry)

    async def _find_facts(self, facts: Sequence[FactId]) -> None:
        missing = {fact for fact in facts if fact not in self._facts} - self._facts_asked
        if not missing:
            return
        self._facts_asked |= missing
        rows = await self.connection.execute(
            "select id, first, array_agg(version), bool_or(retracted_at is null) from facts"
            " where partition = %s and id = any(%s) group by id, first",
            (self.partition.no, [text_column(fact) for fact in missing]),
        )
        for id_, first, versions, is_open in await rows.fetchall():
            self._facts[FactId(text_of(id_))] = _Known(first, set(versions), is_open)

    async def close(self, closed: ClosedVersion) -> None:
        await self._find_facts([closed.fact])
        known = self._version(closed.fact, closed.version)
        if (closed.fact, closed.version) in self._waiting:
            await self.flush()
        updated = await self.connection.execute(
            "update facts set retracted_at = %s, replaced_by = %s, changed = %s"
            " where partition = %s and id = %s and version = %s and retracted_at is null",
            (
                to_micros(closed.retracted_at),
                optional_text_column(closed.replaced_by),
                self.changed,
                self.partition.no,
                text_column(closed.fact),
                closed.version,
            ),
        )
        if updated.rowcount == 0:
            raise Conflict(f"version {closed.version} of fact {closed.fact!r} is closed already")
        known.is_open = False

    async def insert_version(self, new: NewVersion) -> None:
        fact = new.fact
        await self._find_facts([fact.id])
        known = self._facts.setdefault(fact.id, _Known(self.next_row))
        if fact.version in known.versions:
            raise Conflict(f"fact {fact.id!r} has a version {fact.version} already")
        if known.is_open and fact.retracted_at is None:
            raise Conflict(f"fact {fact.id!r} has an open version already")
        known.versions.add(fact.version)
        known.is_open = known.is_open or fact.retracted_at is None
        self._waiting.add((fact.id, fact.version))
        await self._gathered.insert("facts", self._fact_columns(fact, known.first, new.entry.terms))
        await self._index(new.entry)

    def _fact_columns(self, fact: Fact, first: int, terms: bytes) -> Sequence[object]:
        return (
            self.next_row,
            self.partition.no,
            first,
            self.changed,
            text_column(fact.id),
            fact.version,
            fact.kind,
            fact.confidence,
            fact.importance,
            to_micros(fact.said_at),
            optional_micros(fact.valid_from),
            optional_micros(fact.valid_to),
            to_micros(fact.recorded_at),
            optional_micros(fact.retracted_at),
            optional_micros(fact.expires_at),
            optional_text_column(fact.replaced_by),
            text_column(fact.subject),
            text_column(fact.attribute),
            text_column(fact.value),
            text_column(fact.extractor),
            metadata_column(fact.metadata),
            terms,
            text_column(fact.text),
        )

    async def insert_summary(self, new: NewSummary) -> None:
        """Write a summary. Raises NotFound for a message that is not there, Conflict for one that is covered."""
        summary = new.summary
        await self._find_messages(summary.messages)
        covered = [self._message(message) for message in summary.messages]
        row = self.next_row
        await self._gathered.insert(
            "summaries",
            (
                row,
                self.partition.no,
                self.changed,
                text_column(summary.id),
                text_column(summary.session),
                to_micros(summary.since),
                to_micros(summary.until),
                to_micros(summary.made_at),
                optional_micros(summary.expires_at),
                text_column(summary.author),
                new.entry.terms,
                text_column(summary.text),
            ),
        )
        await self._index(new.entry)
        await self.flush()
        inserted = await self.connection.execute(
            "insert into summary_messages (message, summary) select unnest(%s::bigint[]), %s on conflict do nothing",
            (covered, row),
        )
        if inserted.rowcount < len(covered):
            raise Conflict(f"a message of summary {summary.id!r} is covered by another summary")

    async def _reinforce(self, reinforced: Reinforced) -> None:
        self._version(reinforced.fact, reinforced.version)
        if (reinforced.fact, reinforced.version) in self._waiting:
            await self.flush()
        updated = await self.connection.execute(
            "update facts set confidence = %s, importance = coalesce(%s, importance), changed = %s"
            " where partition = %s and id = %s and version = %s and retracted_at is null",
            (
                reinforced.confidence,
                reinforced.importance,
                self.changed,
                self.partition.no,
                text_column(reinforced.fact),
                reinforced.version,
            ),
        )
        if updated.rowcount == 0:
            raise Conflict(f"version {reinforced.version} of fact {reinforced.fact!r} is closed")

    async def insert_source(self, source: Source) -> None:
        first, message = await self.first_row(source.fact), await self.message_row(source.message)
        await self._gathered.insert("fact_sources", (first, message, source.start, source.stop, source.role))
        if first < (self.partition.base | self.partition.next_row):
            self._stamped.add(first)

    async def insert_history(self, change: FactChange) -> None:
        first = await self.version_row(change.fact, change.version)
        message = None if change.message is None else await self.message_row(change.message)
        await self._gathered.insert(
            "fact_history",
            (first, change.version, change.change, to_micros(change.at), text_column(change.reason), message),
        )

    async def message_row(self, message: MessageId) -> int:
        await self._find_messages([message])
        return self._message(message)

    def _message(self, message: MessageId) -> int:
        if message not in self._messages:
            raise NotFound("message", message)
        return self._messages[message]

    async def first_row(self, fact: FactId) -> int:
        await self._find_facts([fact])
        if fact not in self._facts:
            raise NotFound("fact", fact)
        return self._facts[fact].first

    async def version_row(self, fact: FactId, version: int) -> int:
        """Return the first row of the fact, if it has that version."""
        await self._find_facts([fact])
        return self._version(fact, version).first

    def _version(self, fact: FactId, version: int) -> _Known:
        known = self._facts.get(fact)
        if known is None or version not in known.versions:
            raise NotFound("fact", fact)
        return known
