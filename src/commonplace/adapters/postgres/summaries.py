"""Summaries: what older stretches of sessions come down to, and which messages each covers."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from commonplace.adapters.postgres import partitions
from commonplace.adapters.postgres.columns import MARK, Connection, optional_moment, text_column, text_of
from commonplace.adapters.postgres.messages import COLUMNS as MESSAGE_COLUMNS
from commonplace.adapters.postgres.messages import to_message
from commonplace.adapters.postgres.partitions import Partition
from commonplace.domain.scope import Scope
from commonplace.domain.times import from_micros
from commonplace.domain.values import Message, MessageId, SessionId, Summary, SummaryId
from commonplace.ports.summaries import Unsummarised

COLUMNS = "row, id, session, since, until, made_at, expires_at, author, text"
COVERED = """
    array(select m.id from summary_messages c join messages m on m.row = c.message
        where c.summary = summaries.row order by m.at, m.row)
"""
"""A column of `summaries`: the messages of each."""
_UNCOVERED = "not exists (select 1 from summary_messages c where c.message = messages.row)"
# A character that text cannot keep is spelled as a mark and four more.
_CHARACTERS = f"length(text) - 4 * (length(text) - length(replace(text, '{MARK}', '')))"
_COVERED = """
    select c.summary, m.id from summary_messages c join messages m on m.row = c.message
    where c.summary = any(%s) order by m.at, m.row
"""


async def of_session(connection: Connection, scope: Scope, session: SessionId | None) -> Sequence[Summary]:
    partition = await partitions.find(connection, scope)
    if partition is None:
        return []
    if session is None:
        return await _read(connection, "partition = %s", (partition.no,))
    return await _read(connection, "partition = %s and session = %s", (partition.no, text_column(session)))


async def of_partition(connection: Connection, partition: Partition) -> Sequence[tuple[int, Summary]]:
    """Return all of one user with the numbers of their rows, in the order of writing."""
    found = await connection.execute(
        f"select {COLUMNS} from summaries where row > %s and row <= %s order by row", (partition.base, partition.last)
    )
    rows = await found.fetchall()
    return list(zip((row[0] for row in rows), await _to_summaries(connection, rows), strict=True))


async def by_id(connection: Connection, scope: Scope, ids: Sequence[SummaryId]) -> Mapping[SummaryId, Summary]:
    partition = await partitions.find(connection, scope)
    if partition is None or not ids:
        return {}
    columns = [text_column(id_) for id_ in ids]
    found = await _read(connection, "partition = %s and id = any(%s)", (partition.no, columns))
    return {summary.id: summary for summary in found}


async def covering(connection: Connection, scope: Scope, messages: Sequence[MessageId]) -> Sequence[Summary]:
    partition = await partitions.find(connection, scope)
    if partition is None or not messages:
        return []
    covers = (
        "row in (select c.summary from summary_messages c join messages m on m.row = c.message"
        " where m.partition = %s and m.id = any(%s))"
    )
    return await _read(connection, covers, (partition.no, [text_column(id_) for id_ in messages]))


async def unsummarised(connection: Connection, scope: Scope, session: SessionId | None) -> Sequence[Unsummarised]:
    partition = await partitions.find(connection, scope)
    if partition is None:
        return []
    which, values = "session is not null", list[Any]([partition.no])
    if session is not None:
        which, values = "session = %s", [partition.no, text_column(session)]
    found = await connection.execute(
        f"select session, count(*), sum({_CHARACTERS}), max(at) from messages where partition = %s and {which}"
        f" and {_UNCOVERED} group by session order by max(at), session",
        values,
    )
    return [
        Unsummarised(SessionId(text_of(name)), messages, int(characters), from_micros(until))
        for name, messages, characters, until in await found.fetchall()
    ]


async def uncovered(connection: Connection, scope: Scope, session: SessionId, *, limit: int) -> Sequence[Message]:
    partition = await partitions.find(connection, scope)
    if partition is None:
        return []
    found = await connection.execute(
        f"select {MESSAGE_COLUMNS} from messages where partition = %s and session = %s and {_UNCOVERED}"
        " order by at, row limit %s",
        (partition.no, text_column(session), limit),
    )
    return [to_message(row) for row in await found.fetchall()]


async def _read(connection: Connection, where: str, values: Sequence[Any]) -> Sequence[Summary]:
    found = await connection.execute(f"select {COLUMNS} from summaries where {where} order by until, row", values)
    return await _to_summaries(connection, await found.fetchall())


async def _to_summaries(connection: Connection, rows: Sequence[tuple[Any, ...]]) -> Sequence[Summary]:
    covered: dict[int, list[str]] = {row[0]: [] for row in rows}
    if covered:
        found = await connection.execute(_COVERED, (list(covered),))
        for summary, message in await found.fetchall():
            covered[summary].append(text_of(message))
    return [to_summary(row, covered[row[0]]) for row in rows]


def to_summary(columns: tuple[Any, ...], covered: Iterable[str]) -> Summary:
    _, id_, session, since, until, made_at, expires_at, author, text = columns
    return Summary(
        id=SummaryId(text_of(id_)),
        session=SessionId(text_of(session)),
        text=text_of(text),
        messages=tuple(map(MessageId, covered)),
        since=from_micros(since),
        until=from_micros(until),
        made_at=from_micros(made_at),
        expires_at=optional_moment(expires_at),
        author=text_of(author),
    )
