"""Records of another ledger, written into this one. What is known already is left as it is."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import singledispatchmethod
from typing import Literal

import numpy as np

from commonplace.adapters.sqlite import blocks, erasure_log, jobs, keys, partitions, retention, summaries
from commonplace.adapters.sqlite.columns import Connection, json_column, optional_micros, text_column
from commonplace.adapters.sqlite.full_text import Unpack
from commonplace.adapters.sqlite.writing import Writer
from commonplace.domain.archive import (
    NAMES,
    Held,
    KeptErasure,
    KeptFact,
    KeptJob,
    KeptMessage,
    KeptSession,
    KeptSummary,
    OfTenants,
    OfUsers,
    Passage,
    Written,
)
from commonplace.domain.errors import InvalidInput, NotFound
from commonplace.domain.keys import Key
from commonplace.domain.retention import Hold
from commonplace.domain.scope import Scope
from commonplace.domain.times import to_micros
from commonplace.domain.usage import NOTHING
from commonplace.domain.values import Block, BlockVersion, FactChange, Source
from commonplace.ports.jobs import Job
from commonplace.ports.ledger import ClosedVersion, Entry, NewSummary, NewVersion

Outcome = Literal["added", "known", "loose"]


def write(
    connection: Connection, scope: Scope, records: Sequence[Held], *, unpack: Unpack | None, model: str | None
) -> Written:
    """Write them, as `ports.archive.Archive` promises."""
    counts: dict[Outcome, Counter[str]] = {"added": Counter(), "known": Counter(), "loose": Counter()}
    archivist: _Archivist | None = None
    if any(isinstance(record, (KeptMessage, KeptFact, KeptSummary)) for record in records):
        partitions.common(connection).refuse_held()
    for record in records:
        if isinstance(record, OfTenants):
            outcome = _write_for_tenant(connection, scope.tenant, record)
        else:
            archivist = archivist or _Archivist(connection, scope, unpack, model)
            outcome = _written(archivist, record)
        counts[outcome][NAMES[type(record)]] += 1
    if archivist is not None:
        archivist.finish()
    return Written(**counts)


def _written(archivist: "_Archivist", record: OfUsers) -> Outcome:
    try:
        return archivist.write(record)
    except NotFound:
        return "loose"


def _write_for_tenant(connection: Connection, tenant: str, record: OfTenants) -> Outcome:
    if isinstance(record, Hold):
        scope, held = Scope(tenant, record.user), [one.user for one in retention.holds(connection, tenant)]
        retention.hold(connection, scope, record)
        return _new(record.user not in held)
    if isinstance(record, Key):
        known = keys.find(connection, record.id)
        if known is None:
            keys.add(connection, replace(record, tenant=tenant))
        elif record.revoked_at is not None:
            keys.revoke(connection, record.id, at=record.revoked_at)
        return _new(known is None)
    missing = record.usage.beyond(jobs.usage(connection, tenant, record.day))
    if missing != NOTHING:
        jobs.count_usage(connection, tenant, record.day, missing)
    return _new(missing != NOTHING)


def _entry(passage: Passage, model: str | None) -> Entry:
    vector = None if passage.vector is None else np.frombuffer(passage.vector, dtype=np.float32)
    return Entry(
        start=passage.start, stop=passage.stop, terms=passage.terms, vector=vector, tokens=passage.tokens, model=model
    )


def _new(inserted: bool) -> Outcome:
    return "added" if inserted else "known"


class _Archivist:
    def __init__(self, connection: Connection, scope: Scope, unpack: Unpack | None, model: str | None) -> None:
        self._connection, self._scope, self._model = connection, scope, model
        self._partition = partitions.obtain(connection, scope)
        self._rows = Writer(connection, self._partition, partitions.common(connection), unpack)
        self._facts_changed = False

    def finish(self) -> None:
        if self._facts_changed or self._rows.added:
            self._rows.finish(of_facts=self._facts_changed)

    @singledispatchmethod
    def write(self, record: OfUsers) -> Outcome:
        raise TypeError(f"{type(record).__name__} is not a record of an archive")

    @write.register
    def _(self, record: KeptMessage) -> Outcome:
        if not record.passages:
            raise InvalidInput(f"message {record.message.id!r} has no passages: expected at least one")
        inserted = self._rows.insert_message(record.message)
        if inserted:
            self._rows.insert_passages([_entry(passage, self._model) for passage in record.passages])
        return _new(inserted)

    @write.register
    def _(self, record: KeptFact) -> Outcome:
        fact = record.fact
        if record.passage is None:
            raise InvalidInput(f"fact {fact.id!r} has no passage: expected one")
        is_there, is_open, has_open = self._connection.execute(
            "select max(version = :version), max(version = :version and retracted_at is null),"
            " max(retracted_at is null) from facts where partition = :partition and id = :id",
            {"version": fact.version, "partition": self._partition.no, "id": text_column(fact.id)},
        ).fetchone()
        if is_open and fact.retracted_at is not None:
            self._rows.close(
                ClosedVersion(
                    fact=fact.id,
                    version=fact.version,
                    retracted_at=fact.retracted_at,
                    replaced_by=fact.replaced_by,
                )
            )
            self._facts_changed = True
        if is_there:
            return "known"
        if has_open and fact.retracted_at is None:
            return "loose"
        self._rows.insert_version(NewVersion(fact=fact, entry=_entry(record.passage, self._model)))
        self._facts_changed = True
        return "added"

    @write.register
    def _(self, record: KeptSummary) -> Outcome:
        summary = record.summary
        if record.passage is None:
            raise InvalidInput(f"summary {summary.id!r} has no passage: expected one")
        if summaries.by_id(self._connection, self._scope, [summary.id]):
            return "known"
        if summaries.covering(self._connection, self._scope, summary.messages):
            return "loose"
        self._rows.insert_summary(NewSummary(summary=summary, entry=_entry(record.passage, self._model)))
        return "added"

    @write.register
    def _(self, record: Source) -> Outcome:
        known = self._connection.execute(
            "select 1 from fact_sources s where s.fact = ? and s.message = ? and s.role = ? and s.start = ?"
            " and s.stop = ?",
            (
                self._rows.first_row(record.fact),
                self._rows.message_row(record.message),
                record.role,
                record.start,
                record.stop,
            ),
        ).fetchone()
        if known is None:
            self._rows.insert_source(record)
            self._facts_changed = True
        return _new(known is None)

    @write.register
    def _(self, record: FactChange) -> Outcome:
        message = None if record.message is None else self._rows.message_row(record.message)
        known = self._connection.execute(
            "select 1 from fact_history where fact = ? and version = ? and change = ? and at = ? and reason = ?"
            " and message is ?",
            (
                self._rows.version_row(record.fact, record.version),
                record.version,
                record.change,
                to_micros(record.at),
                text_column(record.reason),
                message,
            ),
        ).fetchone()
        if known is None:
            self._rows.insert_history(record)
            self._facts_changed = True
        return _new(known is None)

    @write.register
    def _(self, record: BlockVersion) -> Outcome:
        return _new(blocks.keep_version(self._connection, self._partition.no, record))

    @write.register
    def _(self, record: Block) -> Outcome:
        known = blocks.find(self._connection, self._partition.no, record.name)
        if known is not None and known.updated_at >= record.updated_at:
            return "known"
        blocks.put(self._connection, self._partition.no, record)
        return "added"

    @write.register
    def _(self, record: KeptSession) -> Outcome:
        inserted = self._connection.execute(
            "insert or ignore into sessions (partition, id, started_at, last_seen, expires_at, ended_at, state)"
            " values (?,?,?,?,?,?,?)",
            (
                self._partition.no,
                text_column(record.id),
                to_micros(record.started_at),
                to_micros(record.last_seen),
                to_micros(record.expires_at),
                optional_micros(record.ended_at),
                json_column(record.state) if record.state else None,
            ),
        )
        return _new(inserted.rowcount == 1)

    @write.register
    def _(self, record: KeptErasure) -> Outcome:
        return _new(erasure_log.write_kept(self._connection, self._partition.no, record))

    @write.register
    def _(self, record: KeptJob) -> Outcome:
        known = jobs.by_id(self._connection, [record.id])
        jobs.enqueue(
            self._connection,
            Job(
                id=record.id,
                scope=self._scope,
                kind=record.kind,
                payload=record.payload,
                epoch=self._partition.epoch,
                attempts=record.attempts,
                run_at=record.run_at,
                status=record.status,
                error=record.error,
            ),
        )
        return _new(not known)
