"""What the database says about itself: whose vectors it holds, how much there is, and whether it is whole."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from commonplace.adapters.postgres import full_text, partitions, sessions
from commonplace.adapters.postgres.columns import Connection, text_column
from commonplace.domain.errors import Conflict
from commonplace.domain.scope import Scope
from commonplace.domain.times import EPOCH, to_micros
from commonplace.ports.upkeep import Finding, Grown, LedgerCounts

DAY = 86_400_000_000
"""Microseconds."""
_LOOSE = (
    "select count(*) from {} v where not exists (select 1 from passages p where p.row = v.row)"
    " and not exists (select 1 from facts f where f.row = v.row)"
    " and not exists (select 1 from summaries s where s.row = v.row)"
)
_CHECKS = {
    "messages without entries": "select count(*) from messages m where not exists"
    " (select 1 from passages p where p.row = m.row)",
    "vectors without a row": _LOOSE.format(
        "(" + " union all ".join(f"select row from {table}" for table in partitions.VECTORS) + ")"
    ),
    "summaries that cover nothing": "select count(*) from summaries s where not exists"
    " (select 1 from summary_messages c where c.summary = s.row)",
    "facts with a gap in their history": "select count(*) from facts f where not exists"
    " (select 1 from facts g where g.row = f.first and g.id = f.id)",
    "partitions with a wrong count of rows": """
        with held as (
            select row >> 32 as no, count(*) as rows from (
                select row from passages union all select row from facts union all select row from summaries
            ) r group by row >> 32
        )
        select count(*) from partitions p full join held h on h.no = p.no
        where coalesce(p.rows, 0) <> coalesce(h.rows, 0)
    """,
}
_FULL_TEXT_CHECKS = {
    "users with gaps in their full text": """
        with held as (select row >> 32 as no, count(*) as rows from full_text group by row >> 32)
        select count(*) from partitions p left join held h on h.no = p.no
        where p.full_text = 1 and p.rows <> coalesce(h.rows, 0)
    """,
}
# PostgreSQL keeps foreign keys and indexes whole by itself; what can be asked of it is whether a key was switched off.
_UNCHECKED_KEYS = """
    select conrelid::regclass::text, conname from pg_constraint
    where contype = 'f' and not convalidated and connamespace = current_schema()::regnamespace
"""
_COUNTS = """
    select p.no, p.rows,
        (select count(*) from messages where partition = p.no),
        (select count(distinct first) from facts where partition = p.no),
        (select count(*) from facts where partition = p.no),
        (select count(*) from blocks where partition = p.no),
        (select count(*) from sessions where partition = p.no),
        (select count(*) from {{vectors}} where row > p.no << 32 and row < (p.no + 1) << 32)
            + (select count(*) from vectors_own where row > p.no << 32 and row < (p.no + 1) << 32)
    from partitions p where {whose}
"""


async def _one(connection: Connection, sql: str, values: Sequence[object] = ()) -> tuple[Any, ...] | None:
    return await (await connection.execute(sql, values)).fetchone()


async def ledger_name(connection: Connection) -> str:
    row = await _one(connection, "select value from meta where key = 'name'")
    assert row is not None
    return str(row[0])


async def _vectors(connection: Connection) -> str:
    return partitions.vectors_of(await partitions.generation(connection))


async def holds_vectors(connection: Connection) -> bool:
    return await _one(connection, f"select 1 from {await _vectors(connection)} limit 1") is not None


async def embedder_identity(connection: Connection) -> str | None:
    row = await _one(connection, "select value from meta where key = 'embedder'")
    return None if row is None else str(row[0])


async def set_embedder_identity(connection: Connection, identity: str, *, replacing: str | None = None) -> None:
    await connection.execute("insert into meta values ('embedder', %s) on conflict (key) do nothing", (identity,))
    row = await _one(connection, "select value from meta where key = 'embedder' for update")
    recorded = None if row is None else str(row[0])
    if recorded not in (None, identity, replacing):
        raise Conflict(f"this ledger holds vectors of {recorded!r}, not of {identity!r}")
    await connection.execute("update meta set value = %s where key = 'embedder'", (identity,))


async def counts(connection: Connection, tenant: str) -> LedgerCounts:
    owner = (text_column(tenant),)
    return await _counted(connection, _COUNTS.format(whose="p.tenant = %s"), "tenant = %s", owner)


async def counts_of(connection: Connection, scope: Scope) -> LedgerCounts:
    owner = partitions.owner_columns(scope)
    which = _COUNTS.format(whose='p.tenant = %s and p."user" = %s')
    return await _counted(connection, which, 'tenant = %s and "user" = %s', owner)


async def growth(connection: Connection, tenant: str) -> Sequence[Grown]:
    whose = "partition in (select no from partitions where tenant = %s)"
    counted = []
    for sql in (
        f"select at / {DAY}, count(*) from messages where {whose} group by 1",
        f"select said_at / {DAY}, count(*) from facts where row = first and {whose} group by 1",
    ):
        rows = await connection.execute(sql, (text_column(tenant),))
        counted.append({int(day): int(number) for day, number in await rows.fetchall()})
    messages, facts = counted
    return [
        Grown(day=EPOCH.date() + timedelta(days=day), messages=messages.get(day, 0), facts=facts.get(day, 0))
        for day in sorted(messages.keys() | facts.keys())
    ]


async def _counted(connection: Connection, sql: str, whose: str, owner: Sequence[object]) -> LedgerCounts:
    sql = sql.format(vectors=await _vectors(connection))
    found = [row[1:] for row in await (await connection.execute(sql, owner)).fetchall()]
    queued = await connection.execute(f"select status, count(*) from jobs where {whose} group by status", owner)
    size = await _one(connection, "select pg_database_size(current_database())")
    holding = [numbers for numbers in found if any(numbers)]
    rows, messages, facts, versions, blocks, held, vectors = map(sum, zip(*holding, [0] * 7, strict=False))
    return LedgerCounts(
        users=len(holding),
        messages=messages,
        facts=facts,
        fact_versions=versions,
        blocks=blocks,
        sessions=held,
        rows=rows,
        rows_without_vector=rows - vectors,
        jobs=dict(await queued.fetchall()),
        bytes_on_disk=0 if size is None else int(size[0]),
    )


async def check(connection: Connection, *, now: datetime | None = None) -> Sequence[Finding]:
    damage = [
        Finding(check="ledger", severity="error", message=message)
        for message in [one async for one in _damage(connection)] + [one async for one in _gaps(connection, _CHECKS)]
    ]
    damage += [
        Finding(check="full text", severity="error", message=message, repairable=True)
        async for message in _gaps(connection, _FULL_TEXT_CHECKS)
    ]
    return [*damage, *await _unwalled(connection), *(await _stale(connection, now) if now is not None else ())]


async def mend(connection: Connection, findings: Sequence[Finding], *, now: datetime | None) -> Sequence[Finding]:
    """Let go of a full text with gaps, and clean the states of sessions that are over. Nothing else is touched."""
    if any(one.check == "full text" for one in findings):
        await full_text.drop(connection)
    if now is not None:
        await sessions.clean(connection, now=now)
    return [replace(one, repaired=one.repairable) for one in findings]


async def _unwalled(connection: Connection) -> Sequence[Finding]:
    row = await _one(connection, "select rolsuper or rolbypassrls, rolname from pg_roles where rolname = current_user")
    if row is None or not row[0]:
        return ()
    message = f"the role {row[1]} is not held back by row-level security: give the service an ordinary one"
    return [Finding(check="permissions", severity="note", message=message)]


async def _stale(connection: Connection, now: datetime) -> Sequence[Finding]:
    row = await _one(
        connection,
        "select count(*) from sessions where state is not null and expires_at <= %s",
        (to_micros(now),),
    )
    if row is None or not row[0]:
        return ()
    message = f"{row[0]} sessions are over, and still have their state"
    return [Finding(check="sessions", severity="note", message=message, repairable=True)]


async def _damage(connection: Connection) -> AsyncIterator[str]:
    for table, key in await (await connection.execute(_UNCHECKED_KEYS)).fetchall():
        yield f"the foreign key {key} of {table} is not checked"


async def _gaps(connection: Connection, checks: Mapping[str, str]) -> AsyncIterator[str]:
    for name, sql in checks.items():
        row = await _one(connection, sql)
        if row is not None and row[0]:
            yield f"{row[0]} {name}"
