"""Records of another ledger, written into this one. What is known already is left as it is."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import singledispatchmethod
from typing import Any, Literal

import numpy as np

from commonplace.adapters.postgres import blocks, erasure_log, jobs, keys, partitions, retention, summaries
from commonplace.adapters.postgres.columns import Connection, json_column, optional_micros, text_column, text_of
from commonplace.adapters.postgres.full_text import Unpack
from commonplace.adapters.postgres.partitions import Partition
from commonplace.adapters.postgres.writer import Writer
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
from commonplace.domain.values import Block, BlockVersion, FactChange, FactId, Source
from commonplace.ports.jobs import Job
from commonplace.ports.ledger import ClosedVersion, Entry, NewSummary, NewVersion
from commonplace.ports.models import HeldBack

Outcome = Literal["added", "known", "loose"]


async def write(
    connection: Connection, scope: Scope, records: Sequence[Held], *, unpack: Unpack | None, model: str | None
) -> Written:
    """Write them, as `ports.archive.Archive` promises."""
    counts: dict[Outcome, Counter[str]] = {"added": Counter(), "known": Counter(), "loose": Counter()}
    archivist: _Archivist | None = None
    for record in records:
        if isinstance(record, OfTenants):
            outcome = await _write_for_tenant(connection, scope.tenant, record)
        else:
            archivist = archivist or await _Archivist.of(connection, scope, records, unpack, model)
            outcome = await _written(archivist, record)
        counts[outcome][NAMES[type(record)]] += 1
    if archivist is not None:
        await archivist.finish()
    return Written(**counts)


async def _written(archivist: "_Archivist", record: OfUsers) -> Outcome:
    try:
        return await archivist.write(record)
    except NotFound:
        return "loose"


async def _write_for_tenant(connection: Connection, tenant: str, record: OfTenants) -> Outcome:
    if isinstance(record, Hold):
        scope, held = Scope(tenant, record.user), [one.user for one in await retention.holds(connection, tenant)]
        await retention.hold(connection, scope, record)
        return _new(record.user not in held)
    if isinstance(record, Key):
        known = await keys.find(connection, record.id)
        if known is None:
            await keys.add(connection, replace(record, tenant=tenant))
        elif record.revoked_at is not None:
            await keys.revoke(connection, record.id, at=record.revoked_at)
        return _new(known is None)
    missing = record.usage.beyond(await jobs.usage(connection, tenant, record.day))
    if missing != NOTHING:
        await jobs.count_usage(connection, tenant, record.day, missing)
    return _new(missing != NOTHING)


def _entry(passage: Passage, model: str | None) -> Entry:
    vector = None if passage.vector is None else np.frombuffer(passage.vector, dtype=np.float32)
    return Entry(
        start=passage.start, stop=passage.stop, terms=passage.terms, vector=vector, tokens=passage.tokens, model=model
    )


def _new(inserted: bool) -> Outcome:
    return "added" if inserted else "known"


@dataclass(frozen=True, slots=True)
class _Known:
    """What is there already of the facts that some records are about."""

    versions: dict[FactId, dict[int, bool]]
    """Which of a fact's versions there are, and whether each is open."""
    sources: set[tuple[Any, ...]]
    changes: set[tuple[Any, ...]]

    @classmethod
    async def about(cls, connection: Connection, partition: Partition, records: Sequence[Held]) -> "_Known":
        facts = {record.fact.id for record in records if isinstance(record, KeptFact)}
        facts |= {record.fact for record in records if isinstance(record, (Source, FactChange))}
        named = await connection.execute(
            "select id, version, retracted_at is null, first from facts where partition = %s and id = any(%s)",
            (partition.no, [text_column(fact) for fact in facts]),
        )
        versions: dict[FactId, dict[int, bool]] = {}
        firsts: set[int] = set()
        for id_, version, is_open, first in await named.fetchall():
            versions.setdefault(FactId(text_of(id_)), {})[version] = is_open
            firsts.add(first)
        sources = await connection.execute(
            "select fact, message, start, stop, role from fact_sources where fact = any(%s)", (list(firsts),)
        )
        changes = await connection.execute(
            "select fact, version, change, at, reason, message from fact_history where fact = any(%s)", (list(firsts),)
        )
        return cls(versions, set(await sources.fetchall()), set(await changes.fetchall()))


class _Archivist:
    """Writes the records of one user. What they may repeat is looked up once, for all of them together."""

    def __init__(self, connection: Connection, scope: Scope, rows: Writer, known: "_Known", model: str | None) -> None:
        self._connection, self._scope, self._model = connection, scope, model
        self._partition, self._rows, self._known = rows.partition, rows, known
        self._facts_changed = False

    @classmethod
    async def of(
        cls,
        connection: Connection,
        scope: Scope,
        records: Sequence[Held],
        unpack: Unpack | None,
        model: str | None,
    ) -> "_Archivist":
        partition = await partitions.obtain(connection, scope)
        if partition.held and any(isinstance(record, (KeptMessage, KeptFact, KeptSummary)) for record in records):
            raise HeldBack
        known = await _Known.about(connection, partition, records)
        return cls(connection, scope, Writer(connection, partition, unpack), known, model)

    async def finish(self) -> None:
        if self._facts_changed or self._rows.added:
            await self._rows.finish(of_facts=self._facts_changed)
        await self._rows.flush()

    @singledispatchmethod
    async def write(self, record: OfUsers) -> Outcome:
        raise TypeError(f"{type(record).__name__} is not a record of an archive")

    @write.register
    async def _(self, record: KeptMessage) -> Outcome:
        if not record.passages:
            raise InvalidInput(f"message {record.message.id!r} has no passages: expected at least one")
        inserted = await self._rows.insert_message(record.message)
        if inserted:
            await self._rows.insert_passages([_entry(passage, self._model) for passage in record.passages])
        return _new(inserted)

    @write.register
    async def _(self, record: KeptFact) -> Outcome:
        fact = record.fact
        if record.passage is None:
            raise InvalidInput(f"fact {fact.id!r} has no passage: expected one")
        versions = self._known.versions.setdefault(fact.id, {})
        is_open = versions.get(fact.version, False)
        if is_open and fact.retracted_at is not None:
            await self._rows.close(
                ClosedVersion(
                    fact=fact.id,
                    version=fact.version,
                    retracted_at=fact.retracted_at,
                    replaced_by=fact.replaced_by,
                )
            )
            versions[fact.version] = False
            self._facts_changed = True
        if fact.version in versions:
            return "known"
        if any(versions.values()) and fact.retracted_at is None:
            return "loose"
        await self._rows.insert_version(NewVersion(fact=fact, entry=_entry(record.passage, self._model)))
        versions[fact.version] = fact.retracted_at is None
        self._facts_changed = True
        return "added"

    @write.register
    async def _(self, record: KeptSummary) -> Outcome:
        summary = record.summary
        if record.passage is None:
            raise InvalidInput(f"summary {summary.id!r} has no passage: expected one")
        await self._rows.flush()
        if await summaries.by_id(self._connection, self._scope, [summary.id]):
            return "known"
        if await summaries.covering(self._connection, self._scope, summary.messages):
            return "loose"
        await self._rows.insert_summary(NewSummary(summary=summary, entry=_entry(record.passage, self._model)))
        return "added"

    @write.register
    async def _(self, record: Source) -> Outcome:
        fact, message = await self._rows.first_row(record.fact), await self._rows.message_row(record.message)
        said = (fact, message, record.start, record.stop, record.role)
        if said in self._known.sources:
            return "known"
        await self._rows.insert_source(record)
        self._known.sources.add(said)
        self._facts_changed = True
        return "added"

    @write.register
    async def _(self, record: FactChange) -> Outcome:
        message = None if record.message is None else await self._rows.message_row(record.message)
        fact, at = await self._rows.version_row(record.fact, record.version), to_micros(record.at)
        happened = (fact, record.version, record.change, at, text_column(record.reason), message)
        if happened in self._known.changes:
            return "known"
        await self._rows.insert_history(record)
        self._known.changes.add(happened)
        self._facts_changed = True
        return "added"

    @write.register
    async def _(self, record: BlockVersion) -> Outcome:
        return _new(await blocks.keep_version(self._connection, self._partition.no, record))

    @write.register
    async def _(self, record: Block) -> Outcome:
        known = await blocks.find(self._connection, self._partition.no, record.name)
        if known is not None and known.updated_at >= record.updated_at:
            return "known"
        await blocks.put(self._connection, self._partition.no, record)
        return "added"

    @write.register
    async def _(self, record: KeptSession) -> Outcome:
        inserted = await self._connection.execute(
            "insert into sessions (partition, id, started_at, last_seen, expires_at, ended_at, state)"
            " values (%s, %s, %s, %s, %s, %s, %s) on conflict (partition, id) do nothing",
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
    async def _(self, record: KeptErasure) -> Outcome:
        return _new(await erasure_log.write_kept(self._connection, self._partition.no, record))

    @write.register
    async def _(self, record: KeptJob) -> Outcome:
        known = await jobs.by_id(self._connection, [record.id])
        await jobs.enqueue(
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
