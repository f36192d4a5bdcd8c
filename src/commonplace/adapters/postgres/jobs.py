"""Background work, taken under a lease.

`due` says when a job may be taken: at its time, when its lease runs out, or never when it is dead. Who takes jobs
passes over those that somebody else is just taking.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any

from commonplace.adapters.postgres import partitions
from commonplace.adapters.postgres.columns import Connection, json_column, text_column, text_of
from commonplace.domain.errors import InvalidInput
from commonplace.domain.scope import Scope
from commonplace.domain.times import from_micros, to_micros
from commonplace.domain.usage import NOTHING, Usage
from commonplace.ports.jobs import Job, JobStatus

NEW_COLUMNS = 'id, tenant, "user", kind, payload, epoch, attempts, run_at, due, status, error'
_COLUMNS = 'no, id, tenant, "user", kind, payload, epoch, attempts, run_at, status, error'


async def enqueue(connection: Connection, job: Job) -> None:
    await connection.execute(
        f"insert into jobs ({NEW_COLUMNS}) values (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s) on conflict do nothing",
        new_columns(job),
    )


def new_columns(job: Job) -> Sequence[object]:
    run_at = to_micros(job.run_at)
    return (
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
    )


# The jobs are chosen once, before any is taken: as a subquery the server may choose anew for every row it looks at.
_TAKE = (
    "with chosen as materialized ({}) update jobs set status = 'running', attempts = attempts + 1, due = %(until)s"
    " from chosen where no = chosen.job returning " + _COLUMNS
)
_DUE = (
    "select no as job from jobs where due <= %(now)s and kind = any(%(kinds)s)"
    " and tenant = coalesce(%(tenant)s, tenant)"
)
_FREE = (
    ' and not exists (select 1 from jobs other where other.tenant = jobs.tenant and other."user" = jobs."user"'
    " and other.status = 'running' and other.due > %(now)s)"
    ' and not exists (select 1 from jobs other where other.tenant = jobs.tenant and other."user" = jobs."user"'
    " and other.due <= %(now)s and (other.run_at, other.no) < (jobs.run_at, jobs.no))"
)


async def claim(
    connection: Connection,
    *,
    kinds: Sequence[str],
    now: datetime,
    lease: float,
    limit: int,
    tenant: str | None,
    in_turn: bool,
) -> Sequence[Job]:
    _check(limit)
    due = to_micros(now)
    chosen = f"{_DUE}{_FREE if in_turn else ''} order by run_at, no limit %(limit)s for update of jobs skip locked"
    values = {
        "until": due + round(lease * 1_000_000),
        "now": due,
        "kinds": list(kinds),
        "tenant": None if tenant is None else text_column(tenant),
        "limit": limit,
    }
    return _in_order(await (await connection.execute(_TAKE.format(chosen), values)).fetchall())


async def renew(connection: Connection, job: Job, *, now: datetime, lease: float) -> bool:
    until = to_micros(now) + round(lease * 1_000_000)
    renewed = await connection.execute(
        "update jobs set due = %s where id = %s and status = 'running' and attempts = %s",
        (until, text_column(job.id), job.attempts),
    )
    return renewed.rowcount == 1


async def hand_back(connection: Connection, job: Job) -> None:
    await connection.execute(
        "update jobs set status = 'queued', attempts = attempts - 1, due = run_at"
        " where id = %s and status = 'running' and attempts = %s",
        (text_column(job.id), job.attempts),
    )


async def finish(connection: Connection, job: str) -> bool:
    """Return whether it was still there."""
    return (await connection.execute("delete from jobs where id = %s", (text_column(job),))).rowcount == 1


async def retry(connection: Connection, job: str, *, run_at: datetime, error: str) -> None:
    due = to_micros(run_at)
    await connection.execute(
        "update jobs set status = 'queued', run_at = %s, due = %s, error = %s where id = %s",
        (due, due, text_column(error), text_column(job)),
    )


async def bury(connection: Connection, job: str, *, error: str) -> None:
    await connection.execute(
        "update jobs set status = 'dead', due = null, error = %s where id = %s", (text_column(error), text_column(job))
    )


async def jobs(connection: Connection, tenant: str, *, status: JobStatus | None, limit: int) -> Sequence[Job]:
    _check(limit)
    rows = await connection.execute(
        f"select {_COLUMNS} from jobs where tenant = %s and status = coalesce(%s, status) order by run_at, no limit %s",
        (text_column(tenant), status, limit),
    )
    return _in_order(await rows.fetchall())


async def of_user(connection: Connection, scope: Scope) -> Sequence[Job]:
    rows = await connection.execute(
        f'select {_COLUMNS} from jobs where tenant = %s and "user" = %s', partitions.owner_columns(scope)
    )
    return _in_order(await rows.fetchall())


async def by_id(connection: Connection, jobs: Sequence[str]) -> Mapping[str, Job]:
    rows = await connection.execute(
        f"select {_COLUMNS} from jobs where id = any(%s)", ([text_column(job) for job in jobs],)
    )
    found = {job.id: job for job in map(_to_job, await rows.fetchall())}
    return {job: found[job] for job in jobs if job in found}


async def replay(connection: Connection, tenant: str, jobs: Sequence[str] | None, *, now: datetime) -> int:
    due = to_micros(now)
    again = "update jobs set status = 'queued', attempts = 0, error = '', run_at = %s, due = %s"
    dead = " where status = 'dead' and tenant = %s"
    if jobs is None:
        return (await connection.execute(again + dead, (due, due, text_column(tenant)))).rowcount
    named = [text_column(job) for job in jobs]
    replayed = await connection.execute(again + dead + " and id = any(%s)", (due, due, text_column(tenant), named))
    return replayed.rowcount


async def epoch(connection: Connection, scope: Scope) -> int:
    partition = await partitions.find(connection, scope)
    return 0 if partition is None else partition.epoch


async def count_usage(connection: Connection, tenant: str, day: date, usage: Usage) -> None:
    await connection.execute(
        "insert into usage as u values (%s, %s, %s, %s, %s, %s) on conflict (tenant, day) do update set"
        " requests = u.requests + excluded.requests, input_tokens = u.input_tokens + excluded.input_tokens,"
        " output_tokens = u.output_tokens + excluded.output_tokens, ungrounded = u.ungrounded + excluded.ungrounded",
        (
            text_column(tenant),
            day.isoformat(),
            usage.requests,
            usage.input_tokens,
            usage.output_tokens,
            usage.ungrounded,
        ),
    )


async def usage(connection: Connection, tenant: str, day: date) -> Usage:
    found = await connection.execute(
        "select requests, input_tokens, output_tokens, ungrounded from usage where tenant = %s and day = %s",
        (text_column(tenant), day.isoformat()),
    )
    row = await found.fetchone()
    if row is None:
        return NOTHING
    requests, input_tokens, output_tokens, ungrounded = row
    return Usage(requests=requests, input_tokens=input_tokens, output_tokens=output_tokens, ungrounded=ungrounded)


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
