"""Everything in the database as plain records: one user after the other, their rows in slabs, in the order of writing.

A slab ends before the row of the next message or version, so that a long message keeps its passages together. What has
no slabs of its own is read in pages: nothing is held open between two of them but the transaction.
"""

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

from commonplace.adapters.postgres import (
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
from commonplace.adapters.postgres.columns import Connection, optional_moment, optional_vector_of, text_column, text_of
from commonplace.adapters.postgres.partitions import Partition
from commonplace.domain.archive import (
    FORMAT,
    PLAIN,
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
PAGE = 2_000
"""Sources and changes that are read at a time."""

_NEXT = """
    select row from (
        (select row from messages where row > %(start)s and row <= %(last)s order by row limit %(most)s)
        union all
        (select row from facts where row > %(start)s and row <= %(last)s order by row limit %(most)s)
    ) r order by row limit 1 offset %(most)s - 1
"""
_PASSAGES = """
    select p.first, p.start, p.stop, p.terms, v.vector, v.tokens
    from passages p left join {vectors} v on v.row = p.row where p.row > %s and p.row <= %s order by p.row
"""
_FACT_PASSAGES = """
    select f.row, 0, 0, f.terms, v.vector, v.tokens
    from facts f left join {vectors} v on v.row = f.row where f.row > %s and f.row <= %s order by f.row
"""
_SUMMARY_PASSAGE = """
    select s.terms, v.vector, v.tokens from summaries s left join {vectors} v on v.row = s.row where s.row = %s
"""
_SAID = """
    select s.fact, m.id from fact_sources s join messages m on m.row = s.message
    where s.role = 'said' and s.fact in (select first from facts where row > %s and row <= %s) order by s.no
"""
_SOURCES = """
    select s.fact, s.no, f.id, m.id, s.start, s.stop, s.role
    from fact_sources s join facts f on f.row = s.fact join messages m on m.row = s.message
    where (s.fact, s.no) > (%s, %s) and s.fact <= %s order by s.fact, s.no limit %s
"""
_CHANGES = """
    select h.fact, h.no, f.id, h.version, h.change, h.at, h.reason, m.id
    from fact_history h join facts f on f.row = h.fact left join messages m on m.row = h.message
    where (h.fact, h.no) > (%s, %s) and h.fact <= %s order by h.fact, h.no limit %s
"""
_Batches = AsyncIterator[Sequence[Record]]


class _Slab(NamedTuple):
    start: int
    stop: int


async def records(connection: Connection, scope: Scope | None, *, passages: bool) -> _Batches:
    """Yield it all in batches. The caller holds a transaction, so that it is all of one moment."""
    yield [await _opened(connection, scope)]
    if scope is not None:
        yield [OfTenant(scope.tenant)]
        async for batch in _user(connection, scope, passages=passages):
            yield batch
        return
    for tenant, users in (await _everybody(connection)).items():
        yield [OfTenant(tenant), *await _usage(connection, tenant)]
        yield await keys.keys(connection, tenant)
        yield await retention.holds(connection, tenant)
        for user in users:
            async for batch in _user(connection, Scope(tenant, user), passages=passages):
                yield batch


async def _opened(connection: Connection, scope: Scope | None) -> Opened:
    partition = None if scope is None else await partitions.find(connection, scope)
    memory = await upkeep.embedder_identity(connection)
    return Opened(
        format=FORMAT if scope is None and await own_models.any_there(connection) else PLAIN,
        ledger=await upkeep.ledger_name(connection),
        embedder=memory if partition is None else partition.model,
    )


async def _all(connection: Connection, sql: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
    return await (await connection.execute(sql, values)).fetchall()


async def _everybody(connection: Connection) -> Mapping[str, Sequence[str | None]]:
    owners = await _all(connection, 'select tenant, "user" from partitions union select tenant, "user" from jobs')
    scopes = [partitions.scope_of(*owner) for owner in owners]
    userless = await _all(
        connection, "select tenant from usage union select tenant from api_keys union select tenant from holds"
    )
    tenants = {*(text_of(tenant) for (tenant,) in userless), *(scope.tenant for scope in scopes)}
    everybody: dict[str, list[str | None]] = {tenant: [] for tenant in sorted(tenants)}
    for scope in sorted(scopes, key=lambda scope: scope.user or ""):
        everybody[scope.tenant].append(scope.user)
    return everybody


async def _usage(connection: Connection, tenant: str) -> Sequence[Spent]:
    rows = await _all(
        connection,
        "select day, requests, input_tokens, output_tokens, ungrounded from usage where tenant = %s order by day",
        (text_column(tenant),),
    )
    return [
        Spent(
            day=date.fromisoformat(str(day)),
            usage=Usage(
                requests=requests, input_tokens=input_tokens, output_tokens=output_tokens, ungrounded=ungrounded
            ),
        )
        for day, requests, input_tokens, output_tokens, ungrounded in rows
    ]


async def _user(connection: Connection, scope: Scope, *, passages: bool) -> _Batches:
    partition = await partitions.find(connection, scope)
    yield [OfUser(scope.user, None if partition is None else partition.own)]
    if partition is not None:
        async for batch in _content(connection, partition, passages=passages):
            yield batch
        yield [
            *await blocks.versions(connection, partition.no),
            *await blocks.blocks(connection, scope),
            *await _sessions(connection, partition),
            *[one async for one in erasure_log.kept(connection, partition.no)],
        ]
    yield await _jobs(connection, scope)


async def _content(connection: Connection, partition: Partition, *, passages: bool) -> _Batches:
    start = partition.base
    while start < partition.last:
        slab = await _slab(connection, partition, start)
        yield await _rows(connection, slab, partition.vectors if passages else None)
        start = slab.stop
    yield await _summaries(connection, partition, passages=passages)
    async for page in _pages(connection, _SOURCES, partition):
        yield [_to_source(row) for row in page]
    async for page in _pages(connection, _CHANGES, partition):
        yield [_to_change(row) for row in page]


async def _slab(connection: Connection, partition: Partition, start: int) -> _Slab:
    bounds = {"start": start, "last": partition.last, "most": SLAB + 1}
    after = await (await connection.execute(_NEXT, bounds)).fetchone()
    return _Slab(start, partition.last if after is None else int(after[0]) - 1)


async def _rows(connection: Connection, slab: _Slab, vectors: str | None) -> Sequence[KeptMessage | KeptFact]:
    held: dict[int, KeptMessage | KeptFact] = {}
    indexed = await _passages(connection, _PASSAGES.format(vectors=vectors), slab) if vectors else {}
    said_here = f"select {messages.COLUMNS} from messages where row > %s and row <= %s order by row"
    for row in await _all(connection, said_here, slab):
        held[row[0]] = KeptMessage(message=messages.to_message(row), passages=indexed.get(row[0], ()))
    said = await _said(connection, slab)
    indexed = await _passages(connection, _FACT_PASSAGES.format(vectors=vectors), slab) if vectors else {}
    known_here = facts.SELECT.replace("select", "select f.row,", 1) + "where f.row > %s and f.row <= %s order by f.row"
    for row_no, *columns in await _all(connection, known_here, slab):
        fact = facts.to_fact(tuple(columns), said.get(columns[0], ()))
        passage = replace(indexed[row_no][0], stop=len(fact.text)) if vectors else None
        held[row_no] = KeptFact(fact=fact, passage=passage)
    return [held[row_no] for row_no in sorted(held)]


async def _passages(connection: Connection, sql: str, slab: _Slab) -> Mapping[int, tuple[Passage, ...]]:
    grouped = groupby(await _all(connection, sql, slab), key=itemgetter(0))
    return {
        row: tuple(
            Passage(start=start, stop=stop, terms=terms, vector=optional_vector_of(vector), tokens=tokens)
            for _, start, stop, terms, vector, tokens in group
        )
        for row, group in grouped
    }


async def _said(connection: Connection, slab: _Slab) -> Mapping[int, Sequence[str]]:
    said: dict[int, list[str]] = {}
    for fact, message in await _all(connection, _SAID, slab):
        said.setdefault(fact, []).append(text_of(message))
    return said


async def _summaries(connection: Connection, partition: Partition, *, passages: bool) -> Sequence[KeptSummary]:
    kept: list[KeptSummary] = []
    its_passage = _SUMMARY_PASSAGE.format(vectors=partition.vectors)
    for row, summary in await summaries.of_partition(connection, partition):
        indexed = await (await connection.execute(its_passage, (row,))).fetchone() if passages else None
        kept.append(KeptSummary(summary=summary, passage=None if indexed is None else _whole(summary.text, indexed)))
    return kept


def _whole(text: str, indexed: tuple[Any, ...]) -> Passage:
    terms, vector, tokens = indexed
    return Passage(start=0, stop=len(text), terms=terms, vector=optional_vector_of(vector), tokens=tokens)


async def _pages(connection: Connection, sql: str, partition: Partition) -> AsyncIterator[list[tuple[Any, ...]]]:
    after = (partition.base, 0)
    while page := await _all(connection, sql, (*after, partition.last, PAGE)):
        yield page
        after = page[-1][:2]


def _to_source(row: tuple[Any, ...]) -> Source:
    _, _, fact, message, start, stop, role = row
    return Source(fact=FactId(text_of(fact)), message=MessageId(text_of(message)), start=start, stop=stop, role=role)


def _to_change(row: tuple[Any, ...]) -> FactChange:
    _, _, fact, version, change, at, reason, message = row
    return FactChange(
        fact=FactId(text_of(fact)),
        version=version,
        change=change,
        at=from_micros(at),
        reason=text_of(reason),
        message=None if message is None else MessageId(text_of(message)),
    )


async def _sessions(connection: Connection, partition: Partition) -> Sequence[KeptSession]:
    rows = await _all(
        connection,
        "select id, started_at, last_seen, expires_at, ended_at, state from sessions where partition = %s",
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
    return sorted(found, key=lambda session: session.id)


async def _jobs(connection: Connection, scope: Scope) -> Sequence[KeptJob]:
    return [
        KeptJob(
            id=job.id,
            kind=job.kind,
            payload=job.payload,
            attempts=job.attempts,
            run_at=job.run_at,
            status="dead" if job.status == "dead" else "queued",
            error=job.error,
        )
        for job in await jobs.of_user(connection, scope)
    ]
