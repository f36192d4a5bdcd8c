"""Everything in the database as plain records: one user after the other, their rows in slabs, in the order of writing.

A slab ends before the row of the next message or version, so that a long message keeps its passages together.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from commonplace.adapters.sqlite import (
    blocks,
    erasure_log,
    facts,
    jobs,
    keys,
    messages,
    own_models,
    partitions,
    retention,
    summaries,
    upkeep,
)
from commonplace.adapters.sqlite.columns import Connection, optional_moment, text_column, text_of
from commonplace.adapters.sqlite.partitions import Partition
from commonplace.domain.archive import (
    FORMAT,
    PLAIN,
    Held,
    KeptErasure,
    KeptFact,
    KeptJob,
    KeptMessage,
    KeptSession,
    KeptSummary,
    OfTenant,
    OfUser,
    Opened,
    Passage,
    Record,
    Spent,
)
from commonplace.domain.scope import Scope
from commonplace.domain.times import from_micros
from commonplace.domain.usage import Usage
from commonplace.domain.values import FactChange, FactId, MessageId, SessionId, Source

SLAB = 256
"""Messages and versions of facts that are read at a time."""

_NEXT = """
    select row from (
        select row from messages where row > :start and row <= :last
        union all
        select row from facts where row > :start and row <= :last
    ) order by row limit 1 offset :skip
"""
_PASSAGES = """
    select p.first, p.start, p.stop, p.terms, v.vector, v.tokens
    from passages p left join vectors v on v.row = p.row where p.row > ? and p.row <= ? order by p.row
"""
_FACT_PASSAGES = """
    select f.row, 0, 0, f.terms, v.vector, v.tokens
    from facts f left join vectors v on v.row = f.row where f.row > ? and f.row <= ? order by f.row
"""
_SUMMARY_PASSAGE = """
    select s.terms, v.vector, v.tokens from summaries s left join vectors v on v.row = s.row where s.row = ?
"""
_SAID = """
    select s.fact, m.id from fact_sources s join messages m on m.row = s.message
    where s.role = 'said' and s.fact in (select first from facts where row > ? and row <= ?) order by s.no
"""
_SOURCES = """
    select f.id, m.id, s.start, s.stop, s.role
    from fact_sources s join facts f on f.row = s.fact join messages m on m.row = s.message
    where s.fact > ? and s.fact <= ? order by s.fact, s.no
"""
_CHANGES = """
    select f.id, h.version, h.change, h.at, h.reason, m.id
    from fact_history h join facts f on f.row = h.fact left join messages m on m.row = h.message
    where h.fact > ? and h.fact <= ? order by h.fact, h.no
"""


class _Slab(NamedTuple):
    start: int
    stop: int


def records(connection: Connection, scope: Scope | None, *, passages: bool) -> Iterator[Record]:
    """Yield it all. The caller holds a transaction, so that it is all of one moment."""
    yield _opened(connection, scope)
    if scope is not None:
        yield OfTenant(scope.tenant)
        yield from _user(connection, scope, passages=passages)
        return
    for tenant, users in _everybody(connection).items():
        yield OfTenant(tenant)
        yield from _usage(connection, tenant)
        yield from keys.keys(connection, tenant)
        yield from retention.holds(connection, tenant)
        for user in users:
            yield from _user(connection, Scope(tenant, user), passages=passages)


def _opened(connection: Connection, scope: Scope | None) -> Opened:
    partition = None if scope is None else partitions.find(connection, scope)
    common = partitions.common(connection)
    return Opened(
        format=FORMAT if scope is None and own_models.any_there(connection) else PLAIN,
        ledger=upkeep.ledger_name(connection),
        embedder=common.embedder if partition is None else common.model_of(partition),
    )


def _everybody(connection: Connection) -> Mapping[str, Sequence[str | None]]:
    owners = connection.execute("select tenant, user from partitions union select tenant, user from jobs")
    scopes = [partitions.scope_of(*owner) for owner in owners]
    userless = connection.execute(
        "select tenant from usage union select tenant from api_keys union select tenant from holds"
    )
    tenants = {*(text_of(tenant) for (tenant,) in userless), *(scope.tenant for scope in scopes)}
    everybody: dict[str, list[str | None]] = {tenant: [] for tenant in sorted(tenants)}
    for scope in sorted(scopes, key=lambda scope: scope.user or ""):
        everybody[scope.tenant].append(scope.user)
    return everybody


def _usage(connection: Connection, tenant: str) -> Iterator[Spent]:
    for day, *numbers in connection.execute(
        "select day, requests, input_tokens, output_tokens, ungrounded from usage where tenant = ? order by day",
        (text_column(tenant),),
    ):
        requests, input_tokens, output_tokens, ungrounded = numbers
        usage = Usage(requests=requests, input_tokens=input_tokens, output_tokens=output_tokens, ungrounded=ungrounded)
        yield Spent(day=date.fromisoformat(day), usage=usage)


def _user(connection: Connection, scope: Scope, *, passages: bool) -> Iterator[Record]:
    partition = partitions.find(connection, scope)
    yield OfUser(scope.user, None if partition is None else partition.versions.model)
    if partition is not None:
        for slab in _slabs(connection, partition):
            yield from _rows(connection, slab, passages=passages)
        yield from _summaries(connection, partition, passages=passages)
        yield from _sources(connection, partition)
        yield from _changes(connection, partition)
        yield from blocks.versions(connection, partition.no)
        yield from blocks.blocks(connection, scope)
        yield from _sessions(connection, partition)
        yield from _erasures(connection, partition)
    yield from _jobs(connection, scope)


def _slabs(connection: Connection, partition: Partition) -> Iterator[_Slab]:
    start = partition.base
    while start < partition.last:
        bounds = {"start": start, "last": partition.last, "skip": SLAB}
        after = connection.execute(_NEXT, bounds).fetchone()
        stop = partition.last if after is None else int(after[0]) - 1
        yield _Slab(start, stop)
        start = stop


def _rows(connection: Connection, slab: _Slab, *, passages: bool) -> Iterator[KeptMessage | KeptFact]:
    held: dict[int, KeptMessage | KeptFact] = {}
    indexed = _passages(connection, _PASSAGES, slab) if passages else {}
    for row in connection.execute(
        f"select {messages.COLUMNS} from messages where row > ? and row <= ? order by row", slab
    ):
        held[row[0]] = KeptMessage(message=messages.to_message(connection, row), passages=indexed.get(row[0], ()))
    said = _said(connection, slab)
    indexed = _passages(connection, _FACT_PASSAGES, slab) if passages else {}
    for row_no, *row in connection.execute(
        facts.SELECT.replace("select", "select f.row,", 1) + "where f.row > ? and f.row <= ? order by f.row", slab
    ):
        fact = facts.to_fact(tuple(row), said.get(row[0], ()))
        passage = replace(indexed[row_no][0], stop=len(fact.text)) if passages else None
        held[row_no] = KeptFact(fact=fact, passage=passage)
    for row_no in sorted(held):
        yield held[row_no]


def _passages(connection: Connection, sql: str, slab: _Slab) -> Mapping[int, tuple[Passage, ...]]:
    grouped = groupby(connection.execute(sql, slab), key=itemgetter(0))
    return {
        row: tuple(
            Passage(start=start, stop=stop, terms=terms, vector=vector, tokens=tokens)
            for _, start, stop, terms, vector, tokens in group
        )
        for row, group in grouped
    }


def _said(connection: Connection, slab: _Slab) -> Mapping[int, Sequence[str]]:
    said: dict[int, list[str]] = {}
    for fact, message in connection.execute(_SAID, slab):
        said.setdefault(fact, []).append(text_of(message))
    return said


def _summaries(connection: Connection, partition: Partition, *, passages: bool) -> Iterator[KeptSummary]:
    for row, summary in summaries.of_partition(connection, partition):
        indexed = connection.execute(_SUMMARY_PASSAGE, (row,)).fetchone() if passages else None
        yield KeptSummary(summary=summary, passage=indexed and _whole(summary.text, indexed))


def _whole(text: str, indexed: tuple[bytes, bytes | None, bytes | None]) -> Passage:
    terms, vector, tokens = indexed
    return Passage(start=0, stop=len(text), terms=terms, vector=vector, tokens=tokens)


def _sources(connection: Connection, partition: Partition) -> Iterator[Source]:
    for fact, message, start, stop, role in connection.execute(_SOURCES, (partition.base, partition.last)):
        yield Source(fact=FactId(text_of(fact)), message=MessageId(text_of(message)), start=start, stop=stop, role=role)


def _changes(connection: Connection, partition: Partition) -> Iterator[FactChange]:
    for fact, version, change, at, reason, message in connection.execute(_CHANGES, (partition.base, partition.last)):
        yield FactChange(
            fact=FactId(text_of(fact)),
            version=version,
            change=change,
            at=from_micros(at),
            reason=text_of(reason),
            message=None if message is None else MessageId(text_of(message)),
        )


def _sessions(connection: Connection, partition: Partition) -> Iterator[KeptSession]:
    rows = connection.execute(
        "select id, started_at, last_seen, expires_at, ended_at, state from sessions where partition = ?",
        (partition.no,),
    )
    found = [
        KeptSession(
            id=SessionId(text_of(id_)),
            started_at=from_micros(started_at),
            last_seen=from_micros(last_seen),
            expires_at=from_micros(expires_at),
            ended_at=optional_moment(ended_at),
            state={} if state is None else json.loads(state),
        )
        for id_, started_at, last_seen, expires_at, ended_at, state in rows
    ]
    yield from sorted(found, key=lambda session: session.id)


def _erasures(connection: Connection, partition: Partition) -> Iterator[KeptErasure]:
    return erasure_log.kept(connection, partition.no)


def _jobs(connection: Connection, scope: Scope) -> Iterator[Held]:
    for job in jobs.of_user(connection, scope):
        yield KeptJob(
            id=job.id,
            kind=job.kind,
            payload=job.payload,
            attempts=job.attempts,
            run_at=job.run_at,
            status="dead" if job.status == "dead" else "queued",
            error=job.error,
        )
