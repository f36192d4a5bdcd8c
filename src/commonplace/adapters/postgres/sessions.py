"""Short-lived state of conversations.

A session lives until `last_seen` plus its time to live. A state that has outlived it is not read, even while it is
still stored.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from commonplace.adapters.postgres import partitions
from commonplace.adapters.postgres.columns import Connection, json_column, optional_moment, text_column, text_of
from commonplace.adapters.postgres.partitions import NUMBER
from commonplace.domain.scope import Scope
from commonplace.domain.states import Expected, State, merged
from commonplace.domain.times import from_micros, to_micros
from commonplace.domain.values import Json, Message, SessionId, SessionInfo

_INFO = f"""
    select id, started_at, last_seen, expires_at, ended_at,
        (select count(*) from messages m where m.partition = s.partition and m.session = s.id)
    from sessions s where partition = {NUMBER}
"""
KEEP_ALIVE = """
    insert into sessions as s (partition, id, started_at, last_seen, expires_at) {rows}
    on conflict (partition, id) do update set
        last_seen = greatest(s.last_seen, excluded.last_seen),
        expires_at = greatest(s.last_seen, excluded.last_seen) + %s,
        state = case when s.ended_at is null and s.expires_at > excluded.last_seen then s.state end,
        ended_at = null
"""
"""Creates sessions, or moves their end. One that had expired or ended starts again, with no state."""
_ONE = KEEP_ALIVE.format(rows="values (%s, %s, %s, %s, %s)")


def kept_alive(partition: int, session: SessionId, *, now: datetime, ttl: float) -> tuple[str, Sequence[object]]:
    """Return the statement, with its values, that keeps one alive."""
    id_, at, until = moments(session, now=now, ttl=ttl)
    return _ONE, (partition, id_, at, at, until, life(ttl))


def moments(session: SessionId, *, now: datetime, ttl: float) -> tuple[str, int, int]:
    """Return its name, when it was seen, and when it ends."""
    micros = to_micros(now)
    return text_column(session), micros, micros + life(ttl)


def life(ttl: float) -> int:
    return round(ttl * 1_000_000)


def latest(messages: Sequence[Message]) -> Sequence[tuple[SessionId, datetime]]:
    """Return the sessions of these messages, and when each was seen last. Once each: a statement meets no row twice."""
    of_sessions = {one.session: one.recorded_at for one in sorted(messages, key=lambda one: one.recorded_at)}
    return [(session, seen) for session, seen in of_sessions.items() if session is not None]


async def keep_alive(connection: Connection, partition: int, session: SessionId, *, now: datetime, ttl: float) -> None:
    await connection.execute(*kept_alive(partition, session, now=now, ttl=ttl))


async def state(connection: Connection, scope: Scope, session: SessionId, *, now: datetime) -> Mapping[str, Json]:
    found = await connection.execute(
        f"select state from sessions where partition = {NUMBER} and id = %s and ended_at is null and expires_at > %s",
        (*partitions.owner_columns(scope), text_column(session), to_micros(now)),
    )
    return _loaded(await found.fetchone())


def _loaded(row: tuple[Any, ...] | None) -> dict[str, Json]:
    if row is None or row[0] is None:
        return {}
    found: dict[str, Json] = json.loads(row[0])
    return found


async def update(
    connection: Connection,
    scope: Scope,
    session: SessionId,
    values: State,
    *,
    now: datetime,
    ttl: float,
    expected: Expected,
) -> State:
    partition = (await partitions.obtain(connection, scope)).no
    kept = merged(await state(connection, scope, session, now=now), values, expected)
    await keep_alive(connection, partition, session, now=now, ttl=ttl)
    await connection.execute(
        "update sessions set state = %s where partition = %s and id = %s",
        (json_column(kept) if kept else None, partition, text_column(session)),
    )
    return kept


async def touch(connection: Connection, scope: Scope, session: SessionId, *, now: datetime, ttl: float) -> SessionInfo:
    await keep_alive(connection, (await partitions.obtain(connection, scope)).no, session, now=now, ttl=ttl)
    touched = await info(connection, scope, session)
    assert touched is not None
    return touched


async def end(connection: Connection, scope: Scope, session: SessionId, *, now: datetime) -> None:
    await connection.execute(
        f"update sessions set state = null, ended_at = coalesce(ended_at, %s) where partition = {NUMBER} and id = %s",
        (to_micros(now), *partitions.owner_columns(scope), text_column(session)),
    )


async def info(connection: Connection, scope: Scope, session: SessionId) -> SessionInfo | None:
    found = await connection.execute(_INFO + "and id = %s", (*partitions.owner_columns(scope), text_column(session)))
    row = await found.fetchone()
    return None if row is None else _to_info(row)


async def active(connection: Connection, scope: Scope, *, now: datetime) -> Sequence[SessionInfo]:
    found = await connection.execute(
        _INFO + "and ended_at is null and expires_at > %s", (*partitions.owner_columns(scope), to_micros(now))
    )
    by_id = sorted((_to_info(row) for row in await found.fetchall()), key=lambda info: info.id)
    return sorted(by_id, key=lambda info: info.last_seen, reverse=True)


async def clean(connection: Connection, *, now: datetime) -> int:
    cleaned = await connection.execute(
        "update sessions set state = null where state is not null and expires_at <= %s", (to_micros(now),)
    )
    return cleaned.rowcount


def _to_info(row: tuple[Any, ...]) -> SessionInfo:
    id_, started_at, last_seen, expires_at, ended_at, messages = row
    return SessionInfo(
        id=SessionId(text_of(id_)),
        started_at=from_micros(started_at),
        last_seen=from_micros(last_seen),
        expires_at=from_micros(expires_at),
        messages=messages,
        ended_at=optional_moment(ended_at),
    )
