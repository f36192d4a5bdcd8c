"""Answers kept for who asks again. They may quote what is remembered, so a forget empties those of its user."""

import json
from datetime import datetime

from commonplace.adapters.postgres import partitions
from commonplace.adapters.postgres.columns import Connection, text_column
from commonplace.domain.scope import Scope
from commonplace.domain.times import to_micros
from commonplace.ports.answers import Answer, Asked, Instead


async def begin(connection: Connection, asked: Asked, *, now: datetime, lease: float) -> Instead | None:
    moment = to_micros(now)
    await connection.execute("delete from answers where until <= %s", (moment,))
    # Of two who ask at once, one inserts and the other waits for it and then finds its line.
    taken = await connection.execute(
        "insert into answers (tenant, owner, key, digest, until) values (%s, %s, %s, %s, %s)"
        " on conflict (owner, key) do nothing",
        (
            text_column(asked.tenant),
            asked.owner,
            text_column(asked.key),
            asked.digest,
            moment + round(lease * 1_000_000),
        ),
    )
    if taken.rowcount == 1:
        return None
    found = await connection.execute(
        "select digest, status, headers, body from answers where owner = %s and key = %s",
        (asked.owner, text_column(asked.key)),
    )
    row = await found.fetchone()
    if row is None:
        return "running"  # it ran out while we looked: the next try takes it
    digest, status, headers, body = row
    if digest is None:
        return "forgotten"
    if digest != asked.digest:
        return "another"
    return "running" if status is None else Answer(status=status, headers=json.loads(headers), body=body)


async def keep(connection: Connection, asked: Asked, answer: Answer, *, whose: Scope | None, until: datetime) -> None:
    await connection.execute(
        'update answers set until = %s, "user" = %s, status = %s, headers = %s, body = %s'
        " where owner = %s and key = %s and digest = %s",
        (
            to_micros(until),
            None if whose is None else partitions.owner_columns(whose)[1],
            answer.status,
            json.dumps(dict(answer.headers)),
            answer.body,
            asked.owner,
            text_column(asked.key),
            asked.digest,
        ),
    )


async def drop(connection: Connection, asked: Asked) -> None:
    await connection.execute(
        "delete from answers where owner = %s and key = %s and status is null and digest is not null",
        (asked.owner, text_column(asked.key)),
    )


async def forget(connection: Connection, scope: Scope) -> None:
    """Empty the answers that are, or may be, about a user.

    Their keys stay taken: a late retry must not bring back what was forgotten.
    """
    await connection.execute(
        "update answers set digest = null, headers = null, body = null"
        ' where tenant = %s and ("user" = %s or "user" is null)',
        partitions.owner_columns(scope),
    )
