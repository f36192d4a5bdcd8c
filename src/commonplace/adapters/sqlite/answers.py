"""Answers kept for who asks again. They may quote what is remembered, so a forget empties those of its user."""

import json
from datetime import datetime

from commonplace.adapters.sqlite import partitions
from commonplace.adapters.sqlite.columns import Connection, text_column
from commonplace.domain.scope import Scope
from commonplace.domain.times import to_micros
from commonplace.ports.answers import Answer, Asked, Instead


def begin(connection: Connection, asked: Asked, *, now: datetime, lease: float) -> Instead | None:
    moment = to_micros(now)
    connection.execute("delete from answers where until <= ?", (moment,))
    row = connection.execute(
        "select digest, status, headers, body from answers where owner = ? and key = ?",
        (asked.owner, text_column(asked.key)),
    ).fetchone()
    if row is None:
        connection.execute(
            "insert into answers (tenant, owner, key, digest, until) values (?,?,?,?,?)",
            (
                text_column(asked.tenant),
                asked.owner,
                text_column(asked.key),
                asked.digest,
                moment + round(lease * 1_000_000),
            ),
        )
        return None
    digest, status, headers, body = row
    if digest is None:
        return "forgotten"
    if digest != asked.digest:
        return "another"
    return "running" if status is None else Answer(status=status, headers=json.loads(headers), body=body)


def keep(connection: Connection, asked: Asked, answer: Answer, *, whose: Scope | None, until: datetime) -> None:
    connection.execute(
        "update answers set until = ?, user = ?, status = ?, headers = ?, body = ?"
        " where owner = ? and key = ? and digest = ?",
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


def drop(connection: Connection, asked: Asked) -> None:
    connection.execute(
        "delete from answers where owner = ? and key = ? and status is null and digest is not null",
        (asked.owner, text_column(asked.key)),
    )


def forget(connection: Connection, scope: Scope) -> None:
    """Empty the answers that are, or may be, about a user.

    Their keys stay taken: a late retry must not bring back what was forgotten.
    """
    connection.execute(
        "update answers set digest = null, headers = null, body = null"
        " where tenant = ?1 and (user = ?2 or user is null)",
        partitions.owner_columns(scope),
    )
