"""Short-lived state of conversations.

A session lives until `last_seen` plus its time to live. A state that has outlived it is not read, even while it is
still stored.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime

from commonplace.adapters.sqlite import partitions
from commonplace.adapters.sqlite.columns import Connection, Text, json_column, optional_moment, text_column, text_of
from commonplace.domain.scope import Scope
from commonplace.domain.states import Expected, State, merged
from commonplace.domain.times import from_micros, to_micros
from commonplace.domain.values import Json, SessionId, SessionInfo

_INFO = """
    select id, started_at, last_seen, expires_at, ended_at,
        (select count(*) from messages m where m.partition = s.partition and m.session = s.id)
    from sessions s where partition = ?
"""


def keep_alive(connection: Connection, partition: int, session: SessionId, *, now: datetime, ttl: float) -> None:
    """Create it, or move its end. One that had expired or ended starts again, with no state."""
    micros, life = to_micros(now), round(ttl * 1_000_000)
    connection.execute(
        "insert into sessions (partition, id, started_at, last_seen, expires_at) values (?, ?, ?, ?, ?)"
        " on conflict (partition, id) do update set"
        " last_seen = max(last_seen, excluded.last_seen),"
        " expires_at = max(last_seen, excluded.last_seen) + ?,"
        " state = case when ended_at is null and expires_at > excluded.last_seen then state end,"
        " ended_at = null",
        (partition, text_column(session), micros, micros, micros + life, life),
    )


def state(connection: Connection, scope: Scope, session: SessionId, *, now: datetime) -> Mapping[str, Json]:
    partition = partitions.find(connection, scope)
    return {} if partition is None else _state(connection, partition.no, session, now=now)


def _state(connection: Connection, partition: int, session: SessionId, *, now: datetime) -> dict[str, Json]:
    row = connection.execute(
        "select state from sessions where partition = ? and id = ? and ended_at is null and expires_at > ?",
        (partition, text_column(session), to_micros(now)),
    ).fetchone()
    if row is None or row[0] is None:
        return {}
    found: dict[str, Json] = json.loads(row[0])
    return found


def update(
    connection: Connection,
    scope: Scope,
    session: SessionId,
    values: State,
    *,
    now: datetime,
    ttl: float,
    expected: Expected,
) -> State:
    partition = partitions.obtain(connection, scope).no
    kept = merged(_state(connection, partition, session, now=now), values, expected)
    keep_alive(connection, partition, session, now=now, ttl=ttl)
    connection.execute(
        "update sessions set state = ? where partition = ? and id = ?",
        (json_column(kept) if kept else None, partition, text_column(session)),
    )
    return kept


def touch(connection: Connection, scope: Scope, session: SessionId, *, now: datetime, ttl: float) -> SessionInfo:
    keep_alive(connection, partitions.obtain(connection, scope).no, session, now=now, ttl=ttl)
    touched = info(connection, scope, session)
    assert touched is not None
    return touched


def end(connection: Connection, scope: Scope, session: SessionId, *, now: datetime) -> None:
    partition = partitions.find(connection, scope)
    if partition is not None:
        connection.execute(
            "update sessions set state = null, ended_at = coalesce(ended_at, ?) where partition = ? and id = ?",
            (to_micros(now), partition.no, text_column(session)),
        )


def info(connection: Connection, scope: Scope, session: SessionId) -> SessionInfo | None:
    partition = partitions.find(connection, scope)
    if partition is None:
        return None
    row = connection.execute(_INFO + "and id = ?", (partition.no, text_column(session))).fetchone()
    return None if row is None else _to_info(row)


def active(connection: Connection, scope: Scope, *, now: datetime) -> Sequence[SessionInfo]:
    partition = partitions.find(connection, scope)
    if partition is None:
        return []
    rows = connection.execute(_INFO + "and ended_at is null and expires_at > ?", (partition.no, to_micros(now)))
    by_id = sorted((_to_info(row) for row in rows), key=lambda info: info.id)
    return sorted(by_id, key=lambda info: info.last_seen, reverse=True)


def clean(connection: Connection, *, now: datetime) -> int:
    return connection.execute(
        "update sessions set state = null where state is not null and expires_at <= ?", (to_micros(now),)
    ).rowcount


def _to_info(row: tuple[Text, int, int, int, int | None, int]) -> SessionInfo:
    id_, started_at, last_seen, expires_at, ended_at, messages = row
    return SessionInfo(
        id=SessionId(text_of(id_)),
        started_at=from_micros(started_at),
        last_seen=from_micros(last_seen),
        expires_at=from_micros(expires_at),
        messages=messages,
        ended_at=optional_moment(ended_at),
    )
