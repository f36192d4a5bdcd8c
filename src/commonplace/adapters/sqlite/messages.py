"""Messages, as they were said."""

from collections.abc import Mapping, Sequence
from typing import Any

from commonplace.adapters.sqlite import attachments, partitions
from commonplace.adapters.sqlite.columns import (
    Connection,
    Text,
    batches,
    marks,
    metadata_of,
    optional_moment,
    optional_text_of,
    text_column,
    text_of,
)
from commonplace.adapters.sqlite.partitions import N_MASK
from commonplace.domain.errors import InvalidInput
from commonplace.domain.scope import Scope
from commonplace.domain.times import from_micros, to_micros
from commonplace.domain.values import Message, MessageId, SessionId
from commonplace.ports.ledger import Beside, MessagePage, MessageQuery

COLUMNS = (
    "row, id, session, role, name, agent, at, recorded_at, expires_at, metadata, text,"
    " exists (select 1 from attachments a where a.message = messages.row)"
)


def by_id(connection: Connection, scope: Scope, ids: Sequence[MessageId]) -> Mapping[MessageId, Message]:
    partition = partitions.find(connection, scope)
    if partition is None:
        return {}
    found: dict[MessageId, Message] = {}
    for some in batches(ids):
        for row in connection.execute(
            f"select {COLUMNS} from messages where partition = ? and id in ({marks(some)})",
            (partition.no, *map(text_column, some)),
        ):
            message = to_message(connection, row)
            found[message.id] = message
    return {id_: found[id_] for id_ in ids if id_ in found}


def page(connection: Connection, scope: Scope, query: MessageQuery) -> MessagePage:
    if query.limit < 1:
        raise InvalidInput(f"limit={query.limit}: expected 1 or more")
    partition = partitions.find(connection, scope)
    if partition is None:
        return MessagePage(messages=[], next=None)
    where, values = "partition = ?", list[int | Text]([partition.no])
    if query.session is not None:
        where, values = where + " and session = ?", [*values, text_column(query.session)]
    if query.before is not None:
        at, n = query.before
        where, values = where + " and (at, row) < (?, ?)", [*values, to_micros(at), partition.base | n]
    rows = connection.execute(
        f"select {COLUMNS} from messages where {where} order by at desc, row desc limit ?", [*values, query.limit + 1]
    ).fetchall()
    shown = [to_message(connection, row) for row in rows[: query.limit]]
    more = len(rows) > query.limit
    return MessagePage(messages=shown, next=(shown[-1].at, rows[query.limit - 1][0] & N_MASK) if more else None)


def beside(connection: Connection, scope: Scope, ids: Sequence[MessageId]) -> Mapping[MessageId, Beside]:
    partition = partitions.find(connection, scope)
    if partition is None:
        return {}
    found: dict[MessageId, Beside] = {}
    for id_ in ids:
        row = connection.execute(
            "select session, at, row from messages where partition = ? and id = ? and session is not null",
            (partition.no, text_column(id_)),
        ).fetchone()
        if row is not None:
            found[id_] = Beside(*(_next_to(connection, partition.no, row, step) for step in (_BEFORE, _AFTER)))
    return found


_BEFORE = "(at, row) < (?, ?) order by at desc, row desc"
_AFTER = "(at, row) > (?, ?) order by at, row"


def _next_to(connection: Connection, partition: int, place: tuple[Any, ...], step: str) -> MessageId | None:
    row = connection.execute(
        f"select id from messages where partition = ? and session = ? and {step} limit 1", (partition, *place)
    ).fetchone()
    return None if row is None else MessageId(text_of(row[0]))


def to_message(connection: Connection, row: tuple[Any, ...]) -> Message:
    row_no, id_, session, role, name, agent, at, recorded_at, expires_at, metadata, text, carries = row
    return Message(
        id=MessageId(text_of(id_)),
        role=role,
        text=text_of(text),
        at=from_micros(at),
        recorded_at=from_micros(recorded_at),
        session=None if session is None else SessionId(text_of(session)),
        name=optional_text_of(name),
        agent=optional_text_of(agent),
        metadata=metadata_of(metadata),
        expires_at=optional_moment(expires_at),
        attachments=attachments.of_message(connection, row_no) if carries else (),
    )
