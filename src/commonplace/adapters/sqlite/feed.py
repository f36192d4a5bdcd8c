"""What changed since a version, for the indexes and caches that are made of it."""

import json
from collections.abc import Mapping, Sequence
from itertools import starmap
from typing import NamedTuple

from commonplace.adapters.sqlite import partitions
from commonplace.adapters.sqlite.columns import (
    Connection,
    optional_text_of,
    text_column,
    text_of,
    vector_column,
)
from commonplace.adapters.sqlite.partitions import N_MASK, Partition
from commonplace.domain.scope import Scope
from commonplace.ports.feed import FactRow, Feed, MessageRow, Vector, Versions
from commonplace.ports.models import made_by

_MESSAGES = """
    select p.row & 0xffffffff, p.first & 0xffffffff, m.id, m.session, m.role, m.name, m.agent, m.at, m.expires_at,
        m.metadata, p.start, p.stop, p.terms, {vector}, {tokens}
    from passages p join messages m on m.row = p.first {join}
    where {where} order by p.row
"""
_FACTS = """
    select f.row & 0xffffffff, f.id, f.version, f.kind, f.confidence, f.importance, f.said_at, f.valid_from,
        f.valid_to, f.recorded_at, f.retracted_at, f.expires_at, f.metadata, f.first, f.terms, {vector}, {tokens}
    from facts f {join}
    where {where} order by f.row
"""
_SESSIONS = """
    select s.fact, m.session from fact_sources s join messages m on m.row = s.message
    where s.role = 'said' and m.session is not null and s.fact in (select f.first from facts f where {where})
    group by s.fact, m.session order by min(s.no)
"""

_SUMMARIES = """
    select s.row & 0xffffffff, s.id, 1, 'summary', 1.0, 0.5, s.until, null, null, s.made_at, null, s.expires_at, null,
        s.session, s.terms, {vector}, {tokens}
    from summaries s {join}
    where {where} order by s.row
"""

_NTH = """
    select row from (
        select row from passages where row > :start and row <= :last
        union all
        select row from facts where row > :start and row <= :last
        union all
        select row from summaries where row > :start and row <= :last
    ) order by row limit 1 offset :skip
"""


def versions(connection: Connection, scope: Scope) -> Versions:
    partition = partitions.find(connection, scope)
    return partitions.nothing(connection) if partition is None else partition.versions


def feed(connection: Connection, scope: Scope, *, since: int, vectors: bool) -> Feed:
    partition = partitions.find(connection, scope)
    if partition is None:
        return Feed(partitions.nothing(connection), [], [], [])
    if since >= partition.version:
        return Feed(partition.versions, [], [], [])
    since = max(since, 0)
    changed = _Rows("{0}.changed > ? and {0}.changed <= ?", (partition.base | since, partition.last))
    removed = connection.execute(
        "select row from removals where changed > ? and changed <= ? order by row", changed.values
    )
    return Feed(
        partition.versions,
        *_read(connection, changed if since > 0 else _between(partition.base, partition.last), vectors=vectors),
        [row & N_MASK for (row,) in removed],
    )


def slab(connection: Connection, scope: Scope, *, after: int, limit: int, vectors: bool) -> Feed:
    partition = partitions.find(connection, scope)
    if partition is None:
        return Feed(partitions.nothing(connection), [], [], [])
    start = partition.base | min(max(after, 0), N_MASK)
    last = connection.execute(_NTH, {"start": start, "last": partition.last, "skip": max(limit, 1) - 1}).fetchone()
    stop = partition.last if last is None else int(last[0])
    return Feed(partition.versions, *_read(connection, _between(start, stop), vectors=vectors), [])


def rows(connection: Connection, scope: Scope, numbers: Sequence[int], *, vectors: bool) -> Feed:
    partition = partitions.find(connection, scope)
    if partition is None:
        return Feed(partitions.nothing(connection), [], [], [])
    listed = json.dumps([partition.base | n for n in filter(partition.holds, numbers)])
    named = _Rows("{0}.row in (select value from json_each(?))", (listed,))
    return Feed(partition.versions, *_read(connection, named, vectors=vectors), [])


class _Rows(NamedTuple):
    """Which rows to read: a condition on the table of that name."""

    where: str
    values: tuple[int | str, ...]


def _between(start: int, stop: int) -> _Rows:
    return _Rows("{0}.row > ? and {0}.row <= ?", (start, stop))


def _read(connection: Connection, rows: _Rows, *, vectors: bool) -> tuple[Sequence[MessageRow], Sequence[FactRow]]:
    known = [*_fact_rows(connection, rows, vectors=vectors), *_summary_rows(connection, rows, vectors=vectors)]
    return _message_rows(connection, rows, vectors=vectors), sorted(known, key=lambda row: row.n)


def _select(template: str, table: str, where: str, *, vectors: bool) -> str:
    return template.format(
        vector="v.vector" if vectors else "null",
        tokens="v.tokens" if vectors else "null",
        join=f"left join vectors v on v.row = {table}.row" if vectors else "",
        where=where,
    )


def _message_rows(connection: Connection, wanted: _Rows, *, vectors: bool) -> Sequence[MessageRow]:
    sql = _select(_MESSAGES, "p", wanted.where.format("p"), vectors=vectors)
    rows = starmap(MessageRow, connection.execute(sql, wanted.values))
    return [row if _is_text(row) else _decoded(row) for row in rows]


def _is_text(row: MessageRow) -> bool:
    """Say whether all texts came as TEXT, as nearly all do; looking is cheaper than decoding each."""
    texts: tuple[object, ...] = (row.id, row.session, row.name, row.agent)
    return not any(isinstance(text, bytes) for text in texts)


def _decoded(row: MessageRow) -> MessageRow:
    return row._replace(
        id=text_of(row.id),
        session=optional_text_of(row.session),
        name=optional_text_of(row.name),
        agent=optional_text_of(row.agent),
    )


def _fact_rows(connection: Connection, wanted: _Rows, *, vectors: bool) -> Sequence[FactRow]:
    where, values = wanted.where.format("f"), wanted.values
    sessions: dict[int, list[str]] = {}
    for fact, session in connection.execute(_SESSIONS.format(where=where), values):
        sessions.setdefault(fact, []).append(text_of(session))
    spelled = {fact: json.dumps(names) for fact, names in sessions.items()}
    rows = connection.execute(_select(_FACTS, "f", where, vectors=vectors), values)
    return [
        FactRow._make([n, text_of(id_), *before, spelled.get(first), terms, vector, tokens])
        for n, id_, *before, first, terms, vector, tokens in rows
    ]


def _summary_rows(connection: Connection, wanted: _Rows, *, vectors: bool) -> Sequence[FactRow]:
    sql = _select(_SUMMARIES, "s", wanted.where.format("s"), vectors=vectors)
    return [
        FactRow._make([n, text_of(id_), *before, json.dumps([text_of(session)]), terms, vector, tokens])
        for n, id_, *before, session, terms, vector, tokens in connection.execute(sql, wanted.values)
    ]


def vectors(
    connection: Connection, scope: Scope, numbers: Sequence[int], *, table: str = "vectors"
) -> Mapping[int, bytes]:
    partition = partitions.find(connection, scope)
    if partition is None:
        return {}
    found: dict[int, bytes] = {}
    for n in filter(partition.holds, numbers):
        row = connection.execute(f"select vector from {table} where row = ?", (partition.base | n,)).fetchone()
        if row is not None:
            found[n] = row[0]
    return found


def vectors_after(connection: Connection, scope: Scope, *, after: int, limit: int) -> Mapping[int, bytes]:
    partition = partitions.find(connection, scope)
    if partition is None:
        return {}
    rows = connection.execute(
        "select row, vector from vectors where row > ? and row <= ? order by row limit ?",
        (partition.base | min(max(after, 0), N_MASK), partition.last, max(limit, 1)),
    )
    return {row & N_MASK: vector for row, vector in rows}


def set_vectors(
    connection: Connection,
    scope: Scope,
    vectors: Mapping[int, Vector],
    tokens: Mapping[int, bytes],
    *,
    model: str | None,
) -> None:
    partition = partitions.find(connection, scope)
    if partition is None or not vectors or not made_by(partitions.common(connection).model_of(partition), model):
        return
    changed = partition.base | (partition.version + 1)
    for n, vector in vectors.items():
        row = partition.base | n
        if partition.holds(n) and any(
            connection.execute(f"update {table} set changed = ? where row = ?", (changed, row)).rowcount
            for table in ("passages", "facts", "summaries")
        ):
            connection.execute(
                "insert or replace into vectors (row, vector, tokens) values (?, ?, ?)",
                (row, vector_column(vector), tokens.get(n)),
            )
    connection.execute("update partitions set version = version + 1 where no = ?", (partition.no,))


def scopes(connection: Connection, tenant: str) -> Mapping[Scope, Versions]:
    rows = connection.execute(
        f"select tenant, user, {partitions.COLUMNS} from partitions p where tenant = ? and (rows > 0"
        " or exists (select 1 from blocks b where b.partition = p.no)"
        " or exists (select 1 from sessions s where s.partition = p.no)) order by no",
        (text_column(tenant),),
    )
    return {partitions.scope_of(tenant, user): Partition(*rest).versions for tenant, user, *rest in rows}


def delivered(connection: Connection, scope: Scope, index: str) -> int:
    partition = partitions.find(connection, scope)
    if partition is None:
        return 0
    row = connection.execute(
        "select version from deliveries where partition = ? and receiver = ?", (partition.no, text_column(index))
    ).fetchone()
    return 0 if row is None else int(row[0])


def set_delivered(connection: Connection, scope: Scope, index: str, version: int) -> None:
    connection.execute(
        "insert or replace into deliveries values (?, ?, ?)",
        (partitions.obtain(connection, scope).no, text_column(index), version),
    )
