"""Facts: every version ever believed, where each came from, and what happened to it."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from commonplace.adapters.postgres import partitions
from commonplace.adapters.postgres.columns import (
    Connection,
    metadata_of,
    optional_moment,
    text_column,
    text_of,
)
from commonplace.adapters.postgres.partitions import NUMBER
from commonplace.domain.scope import Scope
from commonplace.domain.times import from_micros
from commonplace.domain.values import Fact, FactChange, FactId, FactVersion, MessageId, Source

COLUMNS = """
    f.first, f.id, f.version, f.kind, f.confidence, f.importance, f.said_at, f.valid_from, f.valid_to,
    f.recorded_at, f.retracted_at, f.expires_at, f.replaced_by, f.subject, f.attribute, f.value, f.extractor,
    f.metadata, f.text
"""
SELECT = f"select {COLUMNS} from facts f "
SAID = """
    array(select m.id from fact_sources s join messages m on m.row = s.message
        where s.fact = f.first and s.role = 'said' order by s.no)
"""
_SELECT = f"select {SAID}, {COLUMNS} from facts f "
_OPEN = f"f.partition = {NUMBER} and f.retracted_at is null"
_WANTED = "unnest(%s::text[], %s::text[]) as wanted (subject, attribute)"
# The hashes apart, as an array: in a condition of the join, they would not be taken to the index.
_OF_ATTRIBUTES = (
    f"{_SELECT} join {_WANTED} using (subject, attribute) where {_OPEN} and f.about = any(array("
    f'select hashtextextended(attribute collate "C", hashtextextended(subject collate "C", 0)) from {_WANTED}))'
    " order by f.row"
)
# By laterals, so that the server goes from the few messages to their facts even where its statistics are out of date.
TAUGHT = """
    from messages m
    cross join lateral (select distinct s.fact from fact_sources s where s.message = m.row and s.role = 'said') t
    cross join lateral (select * from facts v where v.first = t.fact order by v.version desc limit 1) f
    where m.partition = {number} and m.id = any(%s)
"""
_TAUGHT = f"select m.id, {SAID}, {COLUMNS} {TAUGHT.format(number=NUMBER)} order by f.first"
_Row = tuple[Any, ...]


async def by_id(connection: Connection, scope: Scope, ids: Sequence[FactId]) -> Mapping[FactId, Fact]:
    rows = await connection.execute(
        f"select distinct on (f.id) {SAID}, {COLUMNS} from facts f"
        f" where f.partition = {NUMBER} and f.id = any(%s) order by f.id, f.version desc",
        (*partitions.owner_columns(scope), [text_column(id_) for id_ in ids]),
    )
    found = {fact.id: fact for fact in _to_facts(await rows.fetchall())}
    return {id_: found[id_] for id_ in ids if id_ in found}


async def versions_by_id(
    connection: Connection, scope: Scope, keys: Sequence[tuple[FactId, int]]
) -> Mapping[tuple[FactId, int], Fact]:
    rows = await connection.execute(
        f"{_SELECT} join unnest(%s::text[], %s::bigint[]) as wanted (id, version) using (id, version)"
        f" where f.partition = {NUMBER}",
        (
            [text_column(id_) for id_, _ in keys],
            [version for _, version in keys],
            *partitions.owner_columns(scope),
        ),
    )
    found = {(fact.id, fact.version): fact for fact in _to_facts(await rows.fetchall())}
    return {key: found[key] for key in keys if key in found}


async def believed(
    connection: Connection, scope: Scope, *, attributes: Sequence[tuple[str, str]] | None
) -> Sequence[Fact]:
    owner = partitions.owner_columns(scope)
    if attributes is None:
        rows = await connection.execute(f"{_SELECT} where {_OPEN} order by f.row", owner)
    else:
        pairs = sorted(set(attributes))
        wanted = [text_column(subject) for subject, _ in pairs], [text_column(attribute) for _, attribute in pairs]
        rows = await connection.execute(_OF_ATTRIBUTES, (*wanted, *owner, *wanted))
    return _to_facts(await rows.fetchall())


async def saying(connection: Connection, scope: Scope, text: str) -> Sequence[Fact]:
    column = text_column(text)
    rows = await connection.execute(
        f'{_SELECT} where {_OPEN} and f.wording = hashtextextended(%s::text collate "C", 0)'
        " and f.text = %s order by f.row",
        (*partitions.owner_columns(scope), column, column),
    )
    return _to_facts(await rows.fetchall())


async def all_versions(connection: Connection, scope: Scope) -> Sequence[Fact]:
    rows = await connection.execute(
        f"{_SELECT} where f.partition = {NUMBER} order by f.row", partitions.owner_columns(scope)
    )
    return _to_facts(await rows.fetchall())


async def history(connection: Connection, scope: Scope, fact: FactId) -> Sequence[FactVersion]:
    rows = await connection.execute(
        f"{_SELECT} where f.partition = {NUMBER} and f.id = %s order by f.version",
        (*partitions.owner_columns(scope), text_column(fact)),
    )
    found = await rows.fetchall()
    if not found:
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
        for version, change, at, reason, message in await _changes(connection, first=found[0][1])
    ]
    return [
        FactVersion(fact=one, changes=tuple(change for change in changes if change.version == one.version))
        for one in _to_facts(found)
    ]


async def _changes(connection: Connection, *, first: int) -> Sequence[_Row]:
    rows = await connection.execute(
        "select h.version, h.change, h.at, h.reason, m.id from fact_history h"
        " left join messages m on m.row = h.message where h.fact = %s order by h.no",
        (first,),
    )
    return await rows.fetchall()


async def taught(
    connection: Connection, scope: Scope, messages: Sequence[MessageId]
) -> Mapping[MessageId, Sequence[Fact]]:
    rows = await connection.execute(
        _TAUGHT, (*partitions.owner_columns(scope), [text_column(message) for message in messages])
    )
    found: dict[MessageId, list[Fact]] = {}
    for message, said, *row in await rows.fetchall():
        found.setdefault(MessageId(text_of(message)), []).append(to_fact(tuple(row), map(text_of, said)))
    return found


async def sources(connection: Connection, scope: Scope, fact: FactId) -> Sequence[Source]:
    rows = await connection.execute(
        "select m.id, s.start, s.stop, s.role from fact_sources s join messages m on m.row = s.message"
        f" where s.fact = (select first from facts where partition = {NUMBER} and id = %s limit 1) order by s.no",
        (*partitions.owner_columns(scope), text_column(fact)),
    )
    return [
        Source(fact=fact, message=MessageId(text_of(message)), start=start, stop=stop, role=role)
        for message, start, stop, role in await rows.fetchall()
    ]


def _to_facts(rows: Iterable[_Row]) -> list[Fact]:
    return [to_fact(tuple(row), map(text_of, said)) for said, *row in rows]


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
