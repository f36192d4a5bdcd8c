"""Background work, taken under a lease.

`due` says when a job may be taken: at its time, when its lease runs out, or never when it is dead.
"""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from commonplace.adapters.sqlite import partitions
from commonplace.adapters.sqlite.columns import Connection, json_column, text_column, text_of
from commonplace.domain.errors import InvalidInput
from commonplace.domain.scope import Scope
from commonplace.domain.times import from_micros, to_micros
from commonplace.ports.jobs import Job, JobStatus

_COLUMNS = "no, id, tenant, user, kind, payload, epoch, attempts, run_at, status, error"


def enqueue(connection: Connection, job: Job) -> None:
    run_at = to_micros(job.run_at)
    connection.execute(
        "insert or ignore into jobs (id, tenant, user, kind, payload, epoch, attempts, run_at, due, status, error)"
        " values (?,?,?,?,?,?,?,?,?,?,?)",
        (
            text_column(job.id),
            *partitions.owner_columns(job.scope),
            job.kind,
            json_column(job.payload),
            job.epoch,
            job.attempts,
            run_at,
            None if job.status == "dead" else run_at,
            job.status,
            text_column(job.error),
        ),
    )


def claim(connection: Connection, *, kinds: Sequence[str], now: datetime, lease: float, limit: int) -> Sequence[Job]:
    _check(limit)
    due = to_micros(now)
    rows = connection.execute(
        "update jobs set status = 'running', attempts = attempts + 1, due = ? where no in ("
        " select no from jobs where due <= ? and kind in (select value from json_each(?)) order by run_at, no limit ?)"
        f" returning {_COLUMNS}",
        (due + round(lease * 1_000_000), due, json.dumps(list(kinds)), limit),
    ).fetchall()
    return _in_order(rows)


def finish(connection: Connection, job: str) -> None:
    connection.execute("delete from jobs where id = ?", (text_column(job),))


def retry(connection: Connection, job: str, *, run_at: datetime, error: str) -> None:
    due = to_micros(run_at)
    connection.execute(
        "update jobs set status = 'queued', run_at = ?, due = ?, error = ? where id = ?",
        (due, due, text_column(error), text_column(job)),
    )


def bury(connection: Connection, job: str, *, error: str) -> None:
    connection.execute(
        "update jobs set status = 'dead', due = null, error = ? where id = ?", (text_column(error), text_column(job))
    )


def jobs(connection: Connection, tenant: str, *, status: JobStatus | None, limit: int) -> Sequence[Job]:
    _check(limit)
    rows = connection.execute(
        f"select {_COLUMNS} from jobs where tenant = ? and status = coalesce(?, status) order by run_at, no limit ?",
        (text_column(tenant), status, limit),
    ).fetchall()
    return _in_order(rows)


def replay(connection: Connection, tenant: str, jobs: Sequence[str] | None, *, now: datetime) -> int:
    due = to_micros(now)
    again = "update jobs set status = 'queued', attempts = 0, error = '', run_at = ?, due = ?"
    dead = " where status = 'dead' and tenant = ?"
    if jobs is None:
        return connection.execute(again + dead, (due, due, text_column(tenant))).rowcount
    return sum(
        connection.execute(again + dead + " and id = ?", (due, due, text_column(tenant), text_column(job))).rowcount
        for job in jobs
    )


def epoch(connection: Connection, scope: Scope) -> int:
    partition = partitions.find(connection, scope)
    return 0 if partition is None else partition.epoch


def _check(limit: int) -> None:
    if limit < 1:
        raise InvalidInput(f"limit={limit}: expected 1 or more")


def _in_order(rows: Sequence[tuple[Any, ...]]) -> Sequence[Job]:
    """RETURNING promises no order."""
    return [_to_job(row) for row in sorted(rows, key=lambda row: (row[8], row[0]))]


def _to_job(row: tuple[Any, ...]) -> Job:
    _, id_, tenant, user, kind, payload, epoch, attempts, run_at, status, error = row
    return Job(
        id=text_of(id_),
        scope=partitions.scope_of(tenant, user),
        kind=kind,
        payload=json.loads(payload),
        epoch=epoch,
        attempts=attempts,
        run_at=from_micros(run_at),
        status=status,
        error=text_of(error),
    )
