"""Messages, as they were said."""

from collections.abc import Mapping, Sequence
from typing import Any

from commonplace.adapters.postgres import attachments, partitions
from commonplace.adapters.postgres.columns import (
    Connection,
    metadata_column,
    metadata_of,
    optional_micros,
    optional_moment,
    optional_text_column,
    optional_text_of,
    text_column,
    text_of,
)
from commonplace.adapters.postgres.partitions import N_MASK, NUMBER, SHIFT
from commonplace.domain.errors import InvalidInput
from commonplace.domain.scope import Scope
from commonplace.domain.times import from_micros, to_micros
from commonplace.domain.values import Message, MessageId, SessionId
from commonplace.ports.ledger import Beside, MessagePage, MessageQuery

COLUMNS = f"row, id, session, role, name, agent, at, recorded_at, expires_at, metadata, text, {attachments.OF_MESSAGE}"

_BESIDE = f"""
    select m.id,
        (select b.id from messages b where b.partition = m.partition and b.session = m.session
            and (b.at, b.row) < (m.at, m.row) order by b.at desc, b.row desc limit 1),
        (select a.id from messages a where a.partition = m.partition and a.session = m.session
            and (a.at, a.row) > (m.at, m.row) order by a.at, a.row limit 1)
    from messages m where m.partition = {NUMBER} and m.id = any(%s) and m.session is not null
"""


async def by_id(connection: Connection, scope: Scope, ids: Sequence[MessageId]) -> Mapping[MessageId, Message]:
    rows = await connection.execute(
        f"select {COLUMNS} from messages where partition = {NUMBER} and id = any(%s)",
        (*partitions.owner_columns(scope), [text_column(id_) for id_ in ids]),
    )
    found = {message.id: message for message in map(to_message, await rows.fetchall())}
    return {id_: found[id_] for id_ in ids if id_ in found}


async def page(connection: Connection, scope: Scope, query: MessageQuery) -> MessagePage:
    if query.limit < 1:
        raise InvalidInput(f"limit={query.limit}: expected 1 or more")
    owner = partitions.owner_columns(scope)
    where, values = f"partition = {NUMBER}", list[int | str](owner)
    if query.session is not None:
        where, values = where + " and session = %s", [*values, text_column(query.session)]
    if query.before is not None:
        at, n = query.before
        where += f" and (at, row) < (%s, ({NUMBER} << {SHIFT}) | %s)"
        values = [*values, to_micros(at), *owner, n]
    found = await connection.execute(
        f"select {COLUMNS} from messages where {where} order by at desc, row desc limit %s", [*values, query.limit + 1]
    )
    rows = await found.fetchall()
    shown = [to_message(row) for row in rows[: query.limit]]
    more = len(rows) > query.limit
    return MessagePage(messages=shown, next=(shown[-1].at, rows[query.limit - 1][0] & N_MASK) if more else None)


async def beside(connection: Connection, scope: Scope, ids: Sequence[MessageId]) -> Mapping[MessageId, Beside]:
    rows = await connection.execute(_BESIDE, (*partitions.owner_columns(scope), [text_column(id_) for id_ in ids]))
    return {
        MessageId(text_of(id_)): Beside(_optional_id(before), _optional_id(after))
        for id_, before, after in await rows.fetchall()
    }


def _optional_id(column: str | None) -> MessageId | None:
    return None if column is None else MessageId(text_of(column))


def columns_of(message: Message) -> Sequence[object]:
    """Return what is kept of it, but for the numbers of its row and its partition."""
    return (
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
    )


def to_message(row: tuple[Any, ...]) -> Message:
    _, id_, session, role, name, agent, at, recorded_at, expires_at, metadata, text, carried = row
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
        attachments=attachments.to_attachments(carried),
    )
