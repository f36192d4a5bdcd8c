"""What changed since a version, for the indexes and caches that are made of it."""

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from commonplace.adapters.postgres import partitions
from commonplace.adapters.postgres.columns import (
    Connection,
    optional_text_of,
    optional_vector_of,
    text_column,
    text_of,
    vector_column,
    vector_of,
)
from commonplace.adapters.postgres.lanes import WHOSE
from commonplace.adapters.postgres.partitions import GENERATION, N_MASK, Partition
from commonplace.domain.scope import Scope
from commonplace.ports.ledger import FactRow, Feed, MessageRow, Vector, Versions
from commonplace.ports.models import made_by

MESSAGE = """
    p.row & 4294967295, p.first & 4294967295, m.id, m.session, m.role, m.name, m.agent, m.at, m.expires_at,
        m.metadata, p.start, p.stop, p.terms, {vector}, {tokens}
"""
"""The columns of a row of a message, from `MESSAGES`; below, those of a fact and of a summary."""
MESSAGES = "passages p join messages m on m.row = p.first {join}"
FACT = """
    f.row & 4294967295, f.id, f.version, f.kind, f.confidence, f.importance, f.said_at, f.valid_from,
        f.valid_to, f.recorded_at, f.retracted_at, f.expires_at, f.metadata, f.first, f.terms, {vector}, {tokens}
"""
FACTS = "facts f {join}"
SUMMARY = """
    s.row & 4294967295, s.id, 1, 'summary'::text, 1.0::double precision, 0.5::double precision, s.until, null, null,
        s.made_at, null, s.expires_at, null, s.session, s.terms, {vector}, {tokens}
"""
SUMMARIES = "summaries s {join}"
_MESSAGES = f"select {MESSAGE} from {MESSAGES} where {{where}} order by p.row"
_FACTS = f"select {FACT} from {FACTS} where {{where}} order by f.row"
_SUMMARIES = f"select {SUMMARY} from {SUMMARIES} where {{where}} order by s.row"
_SESSIONS = """
    select s.fact, m.session from fact_sources s join messages m on m.row = s.message
    where s.role = 'said' and m.session is not null and s.fact in (select f.first from facts f where {where})
    group by s.fact, m.session order by min(s.no)
"""
_Row = tuple[Any, ...]

INDEXED = ("passages", "facts", "summaries")
"""The tables whose rows have vectors."""
_SOME = "(select {{0}} from {} r where row > %(start)s and row <= %(last)s {{1}} order by row limit %(most)s)"
WITHIN = f"select * from ({' union all '.join(map(_SOME.format, INDEXED))}) rows"
"""Columns of the rows of a partition from one number to another, on a condition. The first few of each table, by its
key: the server would look at all of them to find the first few of all tables."""
_NTH = f"{WITHIN.format('row', '')} order by row limit 1 offset %(most)s - 1"
VERSIONS = f"""
    select coalesce(p.no, 0), coalesce(p.version, 0), coalesce(p.fact_version, 0), coalesce(p.rows, 0),
        {GENERATION}, p.own_model, {WHOSE}
    from (select) as always left join partitions p on p.tenant = %s and p."user" = %s
"""
"""Where a user's rows stand: recall asks for it every time."""
STEP = 500
"""Rows that are read without a pause: some 10 ms."""


def placed(row: Sequence[Any]) -> Versions:
    """Return what a row of `VERSIONS` says."""
    found = Versions(*row)
    return found if found.model is None else found._replace(model=text_of(found.model))


async def feed(connection: Connection, scope: Scope, *, since: int, vectors: bool) -> Feed:
    partition = await partitions.find(connection, scope)
    if partition is None:
        return Feed(await partitions.nothing(connection), [], [], [])
    if since >= partition.version:
        return Feed(partition.versions, [], [], [])
    since = max(since, 0)
    changed = _Rows("{0}.changed > %s and {0}.changed <= %s", (partition.base | since, partition.last))
    removed = await connection.execute(
        "select row from removals where changed > %s and changed <= %s order by row", changed.values
    )
    gone = [row & N_MASK for (row,) in await removed.fetchall()]
    wanted = changed if since > 0 else _between(partition.base, partition.last)
    return Feed(partition.versions, *await _read(connection, wanted, _table(partition, vectors)), gone)


async def slab(connection: Connection, scope: Scope, *, after: int, limit: int, vectors: bool) -> Feed:
    partition = await partitions.find(connection, scope)
    if partition is None:
        return Feed(await partitions.nothing(connection), [], [], [])
    start = partition.base | min(max(after, 0), N_MASK)
    found = await connection.execute(_NTH, {"start": start, "last": partition.last, "most": max(limit, 1)})
    last = await found.fetchone()
    stop = partition.last if last is None else int(last[0])
    return Feed(partition.versions, *await _read(connection, _between(start, stop), _table(partition, vectors)), [])


async def rows(connection: Connection, scope: Scope, numbers: Sequence[int], *, vectors: bool) -> Feed:
    partition = await partitions.find(connection, scope)
    if partition is None:
        return Feed(await partitions.nothing(connection), [], [], [])
    named = _Rows("{0}.row = any(%s)", ([partition.base | n for n in filter(partition.holds, numbers)],))
    return Feed(partition.versions, *await _read(connection, named, _table(partition, vectors)), [])


class _Rows(NamedTuple):
    """Which rows to read: a condition on the table of that name."""

    where: str
    values: tuple[int | Sequence[int], ...]


def _between(start: int, stop: int) -> _Rows:
    return _Rows("{0}.row > %s and {0}.row <= %s", (start, stop))


def _table(partition: Partition, vectors: bool) -> str | None:
    """Return where vectors are read from; None: they are not wanted."""
    return partition.vectors if vectors else None


async def _read(
    connection: Connection, rows: _Rows, vectors: str | None
) -> tuple[Sequence[MessageRow], Sequence[FactRow]]:
    messages = await _message_rows(connection, rows, vectors)
    facts = await _fact_rows(connection, rows, vectors)
    summaries = await _summary_rows(connection, rows, vectors)
    return messages, sorted([*facts, *summaries], key=lambda row: row.n)


def select(template: str, table: str, where: str, vectors: str | None) -> str:
    """Fill in a template: vectors come from the table of that name, or are left out."""
    return template.format(
        vector="v.vector" if vectors else "null::bytea",
        tokens="v.tokens" if vectors else "null::bytea",
        join=f"left join {vectors} v on v.row = {table}.row" if vectors else "",
        where=where,
    )


async def _message_rows(connection: Connection, wanted: _Rows, vectors: str | None) -> Sequence[MessageRow]:
    sql = select(_MESSAGES, "p", wanted.where.format("p"), vectors)
    return await _fetch(connection, sql, wanted.values, message_row)


def message_row(row: _Row) -> MessageRow:
    n, first, id_, session, role, name, agent, *others, vector, tokens = row
    return MessageRow._make(
        (
            n,
            first,
            text_of(id_),
            optional_text_of(session),
            role,
            optional_text_of(name),
            optional_text_of(agent),
            *others,
            optional_vector_of(vector),
            tokens,
        )
    )


async def _fact_rows(connection: Connection, wanted: _Rows, vectors: str | None) -> Sequence[FactRow]:
    where, values = wanted.where.format("f"), wanted.values
    sessions: dict[int, list[str]] = {}
    for fact, session in await _fetch(connection, _SESSIONS.format(where=where), values):
        sessions.setdefault(fact, []).append(text_of(session))
    sql = select(_FACTS, "f", where, vectors)
    return await _fetch(connection, sql, values, lambda row: fact_row(row, sessions.get(row[-4], ())))


def fact_row(row: _Row, sessions: Sequence[str]) -> FactRow:
    n, id_, *before, _, terms, vector, tokens = row
    spelled = json.dumps(sessions) if sessions else None
    return FactRow._make((n, text_of(id_), *before, spelled, terms, optional_vector_of(vector), tokens))


async def _summary_rows(connection: Connection, wanted: _Rows, vectors: str | None) -> Sequence[FactRow]:
    sql = select(_SUMMARIES, "s", wanted.where.format("s"), vectors)
    return await _fetch(connection, sql, wanted.values, summary_row)


def summary_row(row: _Row) -> FactRow:
    n, id_, *before, session, terms, vector, tokens = row
    sessions = json.dumps([text_of(session)])
    return FactRow._make((n, text_of(id_), *before, sessions, terms, optional_vector_of(vector), tokens))


async def _fetch(
    connection: Connection, sql: str, values: Sequence[object], convert: Callable[[_Row], Any] = tuple
) -> list[Any]:
    """Return the converted rows. A user can have many: others on this event loop get their turn in between."""
    cursor = await connection.execute(sql, values)
    found: list[Any] = []
    while batch := await cursor.fetchmany(STEP):
        found.extend(map(convert, batch))
        if len(batch) == STEP:
            await asyncio.sleep(0)
    return found


async def vectors(
    connection: Connection, scope: Scope, numbers: Sequence[int], *, aside: bool = False
) -> Mapping[int, bytes]:
    partition = await partitions.find(connection, scope)
    if partition is None:
        return {}
    wanted = [partition.base | n for n in filter(partition.holds, numbers)]
    table = partition.aside if aside else partition.vectors
    found = await _fetch(connection, f"select row, vector from {table} where row = any(%s)", (wanted,))
    return {row & N_MASK: vector_of(vector) for row, vector in found}


async def vectors_after(connection: Connection, scope: Scope, *, after: int, limit: int) -> Mapping[int, bytes]:
    partition = await partitions.find(connection, scope)
    if partition is None:
        return {}
    found = await _fetch(
        connection,
        f"select row, vector from {partition.vectors} where row > %s and row <= %s order by row limit %s",
        (partition.base | min(max(after, 0), N_MASK), partition.last, max(limit, 1)),
    )
    return {row & N_MASK: vector_of(vector) for row, vector in found}


async def set_vectors(
    connection: Connection,
    scope: Scope,
    vectors: Mapping[int, Vector],
    tokens: Mapping[int, bytes],
    *,
    model: str | None,
) -> None:
    partition = await partitions.lock(connection, scope)
    if partition is None or not vectors or not made_by(partition.model, model):
        return
    changed = partition.base | (partition.version + 1)
    wanted = [partition.base | n for n in filter(partition.holds, vectors)]
    there: set[int] = set()
    for table in INDEXED:
        stamped = await connection.execute(
            f"update {table} set changed = %s where row = any(%s) returning row", (changed, wanted)
        )
        there |= {row & N_MASK for (row,) in await stamped.fetchall()}
    await connection.cursor().executemany(
        f"insert into {partition.vectors} (row, vector, tokens) values (%s, %s, %s)"
        " on conflict (row) do update set vector = excluded.vector, tokens = excluded.tokens",
        [(partition.base | n, vector_column(vectors[n]), tokens.get(n)) for n in sorted(there)],
    )
    await connection.execute("update partitions set version = version + 1 where no = %s", (partition.no,))


async def scopes(connection: Connection, tenant: str) -> Mapping[Scope, Versions]:
    rows = await connection.execute(
        f'select tenant, "user", {partitions.COLUMNS} from partitions p where tenant = %s and (rows > 0'
        " or exists (select 1 from blocks b where b.partition = p.no)"
        " or exists (select 1 from sessions s where s.partition = p.no)) order by no",
        (text_column(tenant),),
    )
    return {
        partitions.scope_of(tenant, user): Partition(*rest).versions for tenant, user, *rest in await rows.fetchall()
    }


async def delivered(connection: Connection, scope: Scope, index: str) -> int:
    found = await connection.execute(
        f"select version from deliveries where partition = {partitions.NUMBER} and receiver = %s",
        (*partitions.owner_columns(scope), text_column(index)),
    )
    row = await found.fetchone()
    return 0 if row is None else int(row[0])


async def set_delivered(connection: Connection, scope: Scope, index: str, version: int) -> None:
    await connection.execute(
        "insert into deliveries values (%s, %s, %s)"
        " on conflict (partition, receiver) do update set version = excluded.version",
        ((await partitions.obtain(connection, scope)).no, text_column(index), version),
    )
