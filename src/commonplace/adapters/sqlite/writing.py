"""One change, in one transaction: messages, versions of facts, and why they are believed.

A message that is already there is left alone. A change that finds nothing to do leaves no trace, not even a version.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from commonplace.adapters.sqlite import attachments, full_text, jobs, partitions, sessions
from commonplace.adapters.sqlite.columns import (
    Connection,
    metadata_column,
    optional_micros,
    optional_text_column,
    text_column,
    vector_column,
)
from commonplace.adapters.sqlite.full_text import Unpack
from commonplace.adapters.sqlite.partitions import Common, Partition
from commonplace.domain.errors import Conflict, InvalidInput, NotFound, Overtaken
from commonplace.domain.scope import Scope
from commonplace.domain.times import to_micros
from commonplace.domain.values import FactChange, FactId, Message, MessageId, Source
from commonplace.ports.ledger import Change, ClosedVersion, Entry, NewMessage, NewSummary, NewVersion, Reinforced
from commonplace.ports.models import made_by


def write(
    connection: Connection, scope: Scope, change: Change, common: Common, *, unpack: Unpack | None
) -> frozenset[MessageId]:
    """Write it, as `ports.ledger.Writing` promises. `unpack` is for users whose rows are in the full text."""
    found = partitions.find(connection, scope)
    _check_current(found, change)
    _finish_jobs(connection, change.finished_jobs)
    of_facts = bool(change.closed or change.versions or change.reinforced or change.sources or change.history)
    known: frozenset[MessageId] = frozenset()
    if of_facts or change.messages or change.summaries:
        if change.messages or change.versions or change.summaries:
            common.refuse_held()
        writer = Writer(connection, found or partitions.obtain(connection, scope), common, unpack)
        known = writer.messages(change.messages, session_ttl=change.session_ttl)
        if of_facts:
            writer.facts(change)
        for new in change.summaries:
            writer.insert_summary(new)
        if of_facts or writer.added:
            writer.finish(of_facts=of_facts)
    if not change.messages or len(known) < len(change.messages):
        for job in change.jobs:
            jobs.enqueue(connection, replace(job, epoch=found.epoch if found else 0))
    return known


def _check_current(partition: Partition | None, change: Change) -> None:
    epoch, fact_version = (partition.epoch, partition.fact_version) if partition else (0, 0)
    if change.epoch is not None and change.epoch != epoch:
        raise Overtaken("there was a forget since this was read")
    if change.facts_seen is not None and change.facts_seen != fact_version:
        raise Conflict("the facts of this user have changed since they were read")


def _finish_jobs(connection: Connection, finished: Sequence[str]) -> None:
    for job in finished:
        if not jobs.finish(connection, job):
            raise Overtaken(f"job {job!r} is finished already")


@dataclass(slots=True)
class Writer:
    """A partition that is being written to. It hands out row numbers."""

    connection: Connection
    partition: Partition
    common: Common
    unpack: Unpack | None
    next_row: int = field(init=False)
    changed: int = field(init=False)
    """The stamp of this change."""

    def __post_init__(self) -> None:
        self.next_row = self.partition.base | self.partition.next_row
        self.changed = self.partition.base | (self.partition.version + 1)

    @property
    def added(self) -> int:
        return (self.next_row & partitions.N_MASK) - self.partition.next_row

    def finish(self, *, of_facts: bool) -> None:
        self.connection.execute(
            "update partitions set version = version + 1, fact_version = fact_version + ?, next_row = next_row + ?,"
            " rows = rows + ? where no = ?",
            (of_facts, self.added, self.added, self.partition.no),
        )

    def messages(self, messages: Sequence[NewMessage], *, session_ttl: float | None) -> frozenset[MessageId]:
        fresh: set[MessageId] = set()
        for new in messages:
            if not new.entries:
                raise InvalidInput(f"message {new.message.id!r} has no entries: expected at least one")
            if self.insert_message(new.message):
                fresh.add(new.message.id)
                self.insert_passages(new.entries)
                self._keep_session(new.message, session_ttl)
        return frozenset(new.message.id for new in messages) - fresh

    def _keep_session(self, message: Message, ttl: float | None) -> None:
        if ttl is not None and message.session is not None:
            sessions.keep_alive(self.connection, self.partition.no, message.session, now=message.recorded_at, ttl=ttl)

    def facts(self, change: Change) -> None:
        for closed in change.closed:
            self.close(closed)
        for new in change.versions:
            self.insert_version(new)
        for reinforced in change.reinforced:
            self._reinforce(reinforced)
        for source in change.sources:
            self.insert_source(source)
        for entry in change.history:
            self.insert_history(entry)

    def insert_message(self, message: Message) -> bool:
        """Return whether it is new."""
        inserted = self.connection.execute(
            "insert into messages values (?,?,?,?,?,?,?,?,?,?,?,?) on conflict (partition, id) do nothing",
            (
                self.next_row,
                self.partition.no,
                text_column(message.id),
                optional_text_column(message.session),
                message.role,
                optional_text_column(message.name),
                optional_text_column(message.agent),
                to_micros(message.at),
                to_micros(message.recorded_at),
                optional_micros(message.expires_at),
                metadata_column(message.metadata),
                text_column(message.text),
            ),
        )
        if inserted.rowcount == 1 and message.attachments:
            attachments.insert(self.connection, self.next_row, message.attachments)
        return inserted.rowcount == 1

    def insert_passages(self, entries: Sequence[Entry]) -> None:
        first = self.next_row
        for entry in entries:
            self.connection.execute(
                "insert into passages values (?,?,?,?,?,?)",
                (self.next_row, first, self.changed, entry.start, entry.stop, entry.terms),
            )
            self._index(entry)

    def _index(self, entry: Entry) -> None:
        """Keep what the indexes hold about the next row, and go on to the one after it."""
        # Another model may have taken the place of the one that made the vector.
        if entry.vector is not None and made_by(self.common.model_of(self.partition), entry.model):
            self.connection.execute(
                "insert into vectors (row, vector, tokens) values (?, ?, ?)",
                (self.next_row, vector_column(entry.vector), entry.tokens),
            )
        if self.partition.full_text:
            if self.unpack is None:
                full_text.give_up(self.connection, self.partition)
            else:
                full_text.add(self.connection, self.next_row, entry.terms, unpack=self.unpack)
        self.next_row += 1

    def close(self, closed: ClosedVersion) -> None:
        updated = self.connection.execute(
            "update facts set retracted_at = ?, replaced_by = ?, changed = ?"
            " where partition = ? and id = ? and version = ? and retracted_at is null",
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
            self.version_row(closed.fact, closed.version)
            raise Conflict(f"version {closed.version} of fact {closed.fact!r} is closed already")

    def insert_version(self, new: NewVersion) -> None:
        fact = new.fact
        found = self.connection.execute(
            "select first, max(retracted_at is null), max(version = ?) from facts where partition = ? and id = ?",
            (fact.version, self.partition.no, text_column(fact.id)),
        ).fetchone()
        first, is_open, is_there = found
        if is_there:
            raise Conflict(f"fact {fact.id!r} has a version {fact.version} already")
        if is_open and fact.retracted_at is None:
            raise Conflict(f"fact {fact.id!r} has an open version already")
        self.connection.execute(
            "insert into facts values (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
            (
                self.next_row,
                self.partition.no,
                first or self.next_row,
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
                new.entry.terms,
                text_column(fact.text),
            ),
        )
        self._index(new.entry)

    def insert_summary(self, new: NewSummary) -> None:
        """Write a summary. Raises NotFound for a message that is not there, Conflict for one that is covered."""
        summary = new.summary
        covered = [self.message_row(message) for message in summary.messages]
        row = self.next_row
        self.connection.execute(
            "insert into summaries values (?,?,?,?,?,?,?,?,?,?,?,?)",
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
        for message in covered:
            inserted = self.connection.execute("insert or ignore into summary_messages values (?, ?)", (message, row))
            if not inserted.rowcount:
                raise Conflict(f"a message of summary {summary.id!r} is covered by another summary")
        self._index(new.entry)

    def _reinforce(self, reinforced: Reinforced) -> None:
        updated = self.connection.execute(
            "update facts set confidence = ?, importance = coalesce(?, importance), changed = ?"
            " where partition = ? and id = ? and version = ? and retracted_at is null",
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
            self.version_row(reinforced.fact, reinforced.version)
            raise Conflict(f"version {reinforced.version} of fact {reinforced.fact!r} is closed")

    def insert_source(self, source: Source) -> None:
        first, message = self.first_row(source.fact), self.message_row(source.message)
        self.connection.execute(
            "insert or ignore into fact_sources (fact, message, start, stop, role) values (?,?,?,?,?)",
            (first, message, source.start, source.stop, source.role),
        )
        self.connection.execute("update facts set changed = ? where first = ?", (self.changed, first))

    def insert_history(self, change: FactChange) -> None:
        first = self.version_row(change.fact, change.version)
        message = None if change.message is None else self.message_row(change.message)
        self.connection.execute(
            "insert into fact_history (fact, version, change, at, reason, message) values (?,?,?,?,?,?)",
            (first, change.version, change.change, to_micros(change.at), text_column(change.reason), message),
        )

    def message_row(self, message: MessageId) -> int:
        row = self.connection.execute(
            "select row from messages where partition = ? and id = ?", (self.partition.no, text_column(message))
        ).fetchone()
        if row is None:
            raise NotFound("message", message)
        return int(row[0])

    def first_row(self, fact: FactId) -> int:
        row = self.connection.execute(
            "select first from facts where partition = ? and id = ? limit 1", (self.partition.no, text_column(fact))
        ).fetchone()
        if row is None:
            raise NotFound("fact", fact)
        return int(row[0])

    def version_row(self, fact: FactId, version: int) -> int:
        """Return the first row of the fact, if it has that version."""
        row = self.connection.execute(
            "select first from facts where partition = ? and id = ? and version = ?",
            (self.partition.no, text_column(fact), version),
        ).fetchone()
        if row is None:
            raise NotFound("fact", fact)
        return int(row[0])
