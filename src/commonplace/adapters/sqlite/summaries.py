"""Summaries: what older stretches of sessions come down to, and which messages each covers."""

from collections.abc import Mapping, Sequence
from typing import Any

from commonplace.adapters.sqlite import partitions
from commonplace.adapters.sqlite.columns import Connection, optional_moment, text_column, text_of
from commonplace.adapters.sqlite.messages import COLUMNS as MESSAGE_COLUMNS
from commonplace.adapters.sqlite.messages import to_message
from commonplace.adapters.sqlite.partitions import Partition
from commonplace.domain.scope import Scope
from commonplace.domain.times import from_micros
from commonplace.domain.values import Message, MessageId, SessionId, Summary, SummaryId
from commonplace.ports.summaries import Unsummarised

_COLUMNS = "row, id, session, since, until, made_at, expires_at, author, text"
_UNCOVERED = "not exists (select 1 from summary_messages c where c.message = messages.row)"


def of_session(connection: Connection, scope: Scope, session: SessionId | None) -> Sequence[Summary]:
    partition = partitions.find(connection, scope)
    if partition is None:
        return []
    named = None if session is None else text_column(session)
    return _read(connection, "partition = ? and session = coalesce(?, session)", (partition.no, named))


def of_partition(connection: Connection, partition: Partition) -> Sequence[tuple[int, Summary]]:
    """Return all of one user with the numbers of their rows, in the order of writing."""
    rows = connection.execute(
        f"select {_COLUMNS} from summaries where row > ? and row <= ? order by row", (partition.base, partition.last)
    ).fetchall()
    return [(row[0], _to_summary(connection, row)) for row in rows]


def by_id(connection: Connection, scope: Scope, ids: Sequence[SummaryId]) -> Mapping[SummaryId, Summary]:
    partition = partitions.find(connection, scope)
    if partition is None:
        return {}
    found: dict[SummaryId, Summary] = {}
    for id_ in ids:
        for summary in _read(connection, "partition = ? and id = ?", (partition.no, text_column(id_))):
            found[id_] = summary
    return found


def covering(connection: Connection, scope: Scope, messages: Sequence[MessageId]) -> Sequence[Summary]:
    partition = partitions.find(connection, scope)
    if partition is None:
        return []
    covers = (
        "row = (select c.summary from summary_messages c join messages m on m.row = c.message"
        " where m.partition = ? and m.id = ?)"
    )
    found = (one for id_ in messages for one in _read(connection, covers, (partition.no, text_column(id_))))
    return list({summary.id: summary for summary in found}.values())


def unsummarised(connection: Connection, scope: Scope, session: SessionId | None) -> Sequence[Unsummarised]:
    partition = partitions.find(connection, scope)
    if partition is None:
        return []
    which, values = "session is not null", [partition.no]
    if session is not None:
        which, values = "session = ?", [partition.no, text_column(session)]  # type: ignore[list-item]
    rows = connection.execute(
        f"select session, count(*), sum(length(text)), max(at) from messages where partition = ? and {which}"
        f" and {_UNCOVERED} group by session order by max(at), session",
        values,
    )
    return [
        Unsummarised(SessionId(text_of(name)), messages, characters, from_micros(until))
        for name, messages, characters, until in rows
    ]


def uncovered(connection: Connection, scope: Scope, session: SessionId, *, limit: int) -> Sequence[Message]:
    partition = partitions.find(connection, scope)
    if partition is None:
        return []
    rows = connection.execute(
        f"select {MESSAGE_COLUMNS} from messages where partition = ? and session = ? and {_UNCOVERED}"
        " order by at, row limit ?",
        (partition.no, text_column(session), limit),
    )
    return [to_message(connection, row) for row in rows]


def _read(connection: Connection, where: str, values: tuple[Any, ...]) -> Sequence[Summary]:
    rows = connection.execute(f"select {_COLUMNS} from summaries where {where} order by until, row", values).fetchall()
    return [_to_summary(connection, row) for row in rows]


def _to_summary(connection: Connection, columns: tuple[Any, ...]) -> Summary:
    row, id_, session, since, until, made_at, expires_at, author, text = columns
    covered = connection.execute(
        "select m.id from summary_messages c join messages m on m.row = c.message where c.summary = ?"
        " order by m.at, m.row",
        (row,),
    )
    return Summary(
        id=SummaryId(text_of(id_)),
        session=SessionId(text_of(session)),
        text=text_of(text),
        messages=tuple(MessageId(text_of(message)) for (message,) in covered),
        since=from_micros(since),
        until=from_micros(until),
        made_at=from_micros(made_at),
        expires_at=optional_moment(expires_at),
        author=text_of(author),
    )
