"""Facts: every version ever believed, where each came from, and what happened to it."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from commonplace.adapters.sqlite import partitions
from commonplace.adapters.sqlite.columns import (
    Connection,
    batches,
    marks,
    metadata_of,
    optional_moment,
    text_column,
    text_of,
)
from commonplace.domain.scope import Scope
from commonplace.domain.times import from_micros
from commonplace.domain.values import Fact, FactChange, FactId, FactVersion, MessageId, Source

SELECT = """
    select f.first, f.id, f.version, f.kind, f.confidence, f.importance, f.said_at, f.valid_from, f.valid_to,
        f.recorded_at, f.retracted_at, f.expires_at, f.replaced_by, f.subject, f.attribute, f.value, f.extractor,
        f.metadata, f.text
    from facts f
"""
_Row = tuple[Any, ...]


def by_id(connection: Connection, scope: Scope, ids: Sequence[FactId]) -> Mapping[FactId, Fact]:
    partition = partitions.find(connection, scope)
    if partition is None:
        return {}
    latest = SELECT + "where f.partition = ? and f.id = ? order by f.version desc limit 1"
    rows = (connection.execute(latest, (partition.no, text_column(id_))).fetchone() for id_ in ids)
    return {fact.id: fact for fact in _read(connection, rows)}


def versions_by_id(
    connection: Connection, scope: Scope, keys: Sequence[tuple[FactId, int]]
) -> Mapping[tuple[FactId, int], Fact]:
    partition = partitions.find(connection, scope)
    if partition is None:
        return {}
    named = SELECT + "where f.partition = ? and f.id = ? and f.version = ?"
    rows = (connection.execute(named, (partition.no, text_column(id_), version)).fetchone() for id_, version in keys)
    return {(fact.id, fact.version): fact for fact in _read(connection, rows)}


def believed(connection: Connection, scope: Scope, *, attributes: Sequence[tuple[str, str]] | None) -> Sequence[Fact]:
    partition = partitions.find(connection, scope)
    if partition is None:
        return []
    if attributes is None:
        return _read_all(
            connection, partition, SELECT + "where f.row > ? and f.row <= ? and f.retracted_at is null order by f.row"
        )
    rows: dict[int, _Row] = {}
    for subject, attribute in attributes:
        for row_no, *row in connection.execute(
            SELECT.replace("select", "select f.row,", 1)
            + "where f.partition = ? and f.subject = ? and f.attribute = ? and f.retracted_at is null",
            (partition.no, text_column(subject), text_column(attribute)),
        ):
            rows[row_no] = tuple(row)
    return _read(connection, [rows[row_no] for row_no in sorted(rows)])


def saying(connection: Connection, scope: Scope, text: str) -> Sequence[Fact]:
    partition = partitions.find(connection, scope)
    if partition is None:
        return []
    rows = connection.execute(
        SELECT + "where f.partition = ? and f.text = ? and f.retracted_at is null order by f.row",
        (partition.no, text_column(text)),
    )
    return _read(connection, rows)


def all_versions(connection: Connection, scope: Scope) -> Sequence[Fact]:
    partition = partitions.find(connection, scope)
    if partition is None:
        return []
    return _read_all(connection, partition, SELECT + "where f.row > ? and f.row <= ? order by f.row")


def history(connection: Connection, scope: Scope, fact: FactId) -> Sequence[FactVersion]:
    partition = partitions.find(connection, scope)
    if partition is None:
        return []
    rows = connection.execute(
        SELECT + "where f.partition = ? and f.id = ? order by f.version", (partition.no, text_column(fact))
    ).fetchall()
    if not rows:
        return []
    changes = [
        FactChange(
            fact=fact,
            version=version,
            change=change,
            at=from_micros(at),
            reason=text_of(reason),
            message=None if message is None else MessageId(text_of(message)),
        )
        for version, change, at, reason, message in connection.execute(
            "select h.version, h.change, h.at, h.reason, m.id from fact_history h"
            " left join messages m on m.row = h.message where h.fact = ? order by h.no",
            (rows[0][0],),
        )
    ]
    return [
        FactVersion(fact=one, changes=tuple(change for change in changes if change.version == one.version))
        for one in _read(connection, rows)
    ]


def taught(connection: Connection, scope: Scope, messages: Sequence[MessageId]) -> Mapping[MessageId, Sequence[Fact]]:
    partition = partitions.find(connection, scope)
    if partition is None:
        return {}
    taught_by: dict[MessageId, dict[int, None]] = {}
    for some in batches(messages):
        for message, fact in connection.execute(
            "select m.id, s.fact from messages m join fact_sources s on s.message = m.row"
            f" where m.partition = ? and m.id in ({marks(some)}) and s.role = 'said' order by s.fact",
            (partition.no, *map(text_column, some)),
        ):
            taught_by.setdefault(MessageId(text_of(message)), {})[fact] = None
    latest = {fact: _latest(connection, fact) for facts in taught_by.values() for fact in facts}
    return {message: [latest[fact] for fact in taught_by[message]] for message in messages if message in taught_by}


def _latest(connection: Connection, first: int) -> Fact:
    (fact,) = _read(
        connection, connection.execute(SELECT + "where f.first = ? order by f.version desc limit 1", (first,))
    )
    return fact


def sources(connection: Connection, scope: Scope, fact: FactId) -> Sequence[Source]:
    partition = partitions.find(connection, scope)
    if partition is None:
        return []
    rows = connection.execute(
        "select m.id, s.start, s.stop, s.role from fact_sources s join messages m on m.row = s.message"
        " where s.fact = (select first from facts where partition = ? and id = ? limit 1) order by s.no",
        (partition.no, text_column(fact)),
    )
    return [
        Source(fact=fact, message=MessageId(text_of(message)), start=start, stop=stop, role=role)
        for message, start, stop, role in rows
    ]


def _read(connection: Connection, rows: Iterable[_Row | None]) -> list[Fact]:
    """Return the facts of the rows that there are, with what was said of them."""
    there = [row for row in rows if row is not None]
    said: dict[int, list[str]] = {}
    for some in batches(list({row[0] for row in there})):
        for fact, message in connection.execute(
            "select s.fact, m.id from fact_sources s join messages m on m.row = s.message"
            f" where s.fact in ({marks(some)}) and s.role = 'said' order by s.no",
            some,
        ):
            said.setdefault(fact, []).append(text_of(message))
    return [to_fact(row, said.get(row[0], ())) for row in there]


def _read_all(connection: Connection, partition: partitions.Partition, sql: str) -> Sequence[Fact]:
    bounds = (partition.base, partition.last)
    said: dict[int, list[str]] = {}
    for fact, message in connection.execute(
        "select s.fact, m.id from fact_sources s join messages m on m.row = s.message"
        " where s.fact > ? and s.fact <= ? and s.role = 'said' order by s.no",
        bounds,
    ):
        said.setdefault(fact, []).append(text_of(message))
    return [to_fact(row, said.get(row[0], ())) for row in connection.execute(sql, bounds)]


def to_fact(row: _Row, said: Iterable[str]) -> Fact:
    _, id_, version, kind, confidence, importance, said_at, valid_from, valid_to, *others = row
    recorded_at, retracted_at, expires_at, replaced_by, subject, attribute, value, extractor, metadata, text = others
    return Fact(
        id=FactId(text_of(id_)),
        text=text_of(text),
        kind=kind,
        confidence=confidence,
        importance=importance,
        said_at=from_micros(said_at),
        valid_from=optional_moment(valid_from),
        valid_to=optional_moment(valid_to),
        recorded_at=from_micros(recorded_at),
        retracted_at=optional_moment(retracted_at),
        sources=tuple(MessageId(message) for message in dict.fromkeys(said)),
        metadata=metadata_of(metadata),
        expires_at=optional_moment(expires_at),
        version=version,
        replaced_by=None if replaced_by is None else FactId(text_of(replaced_by)),
        subject=text_of(subject),
        attribute=text_of(attribute),
        value=text_of(value),
        extractor=text_of(extractor),
    )
