"""What the database says about itself: whose vectors it holds, how much there is, and whether it is whole."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from commonplace.adapters.sqlite import full_text, partitions, sessions
from commonplace.adapters.sqlite.columns import Connection, text_column
from commonplace.adapters.sqlite.partitions import Partition
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
    "vectors without a row": _LOOSE.format("vectors"),
    "vectors aside without a row": _LOOSE.format("vectors_aside"),
    "summaries that cover nothing": "select count(*) from summaries s where not exists"
    " (select 1 from summary_messages c where c.summary = s.row)",
    "facts with a gap in their history": "select count(*) from facts f where not exists"
    " (select 1 from facts g where g.row = f.first and g.id = f.id)",
    "partitions with a wrong count of rows": "select count(*) from partitions p where rows <>"
    " (select count(*) from passages where row > p.no << 32 and row < (p.no + 1) << 32)"
    " + (select count(*) from facts where row > p.no << 32 and row < (p.no + 1) << 32)"
    " + (select count(*) from summaries where row > p.no << 32 and row < (p.no + 1) << 32)",
}
_FULL_TEXT_CHECKS = {
    "users with gaps in their full text": "select count(*) from partitions p where full_text = 1 and rows <>"
    " (select count(*) from full_text_docsize where id > p.no << 32 and id < (p.no + 1) << 32)",
}


def ledger_name(connection: Connection) -> str:
    (name,) = connection.execute("select value from meta where key = 'name'").fetchone()
    return str(name)


def holds_vectors(connection: Connection) -> bool:
    found = connection.execute(
        "select 1 from partitions p where own_model is null and exists"
        " (select 1 from vectors where row > p.no << 32 and row < (p.no + 1) << 32) limit 1"
    )
    return found.fetchone() is not None


def embedder_identity(connection: Connection) -> str | None:
    row = connection.execute("select value from meta where key = 'embedder'").fetchone()
    return None if row is None else str(row[0])


def set_embedder_identity(connection: Connection, identity: str, *, replacing: str | None = None) -> None:
    recorded = embedder_identity(connection)
    if recorded not in (None, identity, replacing):
        raise Conflict(f"this ledger holds vectors of {recorded!r}, not of {identity!r}")
    connection.execute("insert or replace into meta values ('embedder', ?)", (identity,))


def counts(connection: Connection, tenant: str, *, bytes_on_disk: int) -> LedgerCounts:
    rows = connection.execute(
        f"select {partitions.COLUMNS} from partitions where tenant = ?",
        (text_column(tenant),),
    ).fetchall()
    found = [_count(connection, Partition(*row)) for row in rows]
    jobs = connection.execute(
        "select status, count(*) from jobs where tenant = ? group by status", (text_column(tenant),)
    )
    return _sum(found, jobs=dict(jobs.fetchall()), bytes_on_disk=bytes_on_disk)


def counts_of(connection: Connection, scope: Scope, *, bytes_on_disk: int) -> LedgerCounts:
    partition = partitions.find(connection, scope)
    found = [] if partition is None else [_count(connection, partition)]
    jobs = connection.execute(
        "select status, count(*) from jobs where tenant = ? and user = ? group by status",
        partitions.owner_columns(scope),
    )
    return _sum(found, jobs=dict(jobs.fetchall()), bytes_on_disk=bytes_on_disk)


def growth(connection: Connection, tenant: str) -> Sequence[Grown]:
    whose = "partition in (select no from partitions where tenant = ?)"
    messages, facts = (
        dict(connection.execute(f"{sql} and {whose} group by 1", (text_column(tenant),)).fetchall())
        for sql in (
            f"select at / {DAY}, count(*) from messages where true",
            f"select said_at / {DAY}, count(*) from facts where row = first",
        )
    )
    return [
        Grown(day=EPOCH.date() + timedelta(days=day), messages=messages.get(day, 0), facts=facts.get(day, 0))
        for day in sorted(messages.keys() | facts.keys())
    ]


def _count(connection: Connection, partition: Partition) -> Sequence[int]:
    """Return messages, facts, versions of facts, blocks, sessions, rows, rows without a vector."""
    no, bounds = (partition.no,), (partition.base, partition.last)
    (messages,) = connection.execute("select count(*) from messages where partition = ?", no).fetchone()
    facts, fact_versions = connection.execute(
        "select count(distinct first), count(*) from facts where partition = ?", no
    ).fetchone()
    (blocks,) = connection.execute("select count(*) from blocks where partition = ?", no).fetchone()
    (sessions,) = connection.execute("select count(*) from sessions where partition = ?", no).fetchone()
    (vectors,) = connection.execute("select count(*) from vectors where row > ? and row <= ?", bounds).fetchone()
    return messages, facts, fact_versions, blocks, sessions, partition.rows, partition.rows - vectors


def _sum(found: Sequence[Sequence[int]], *, jobs: dict[str, int], bytes_on_disk: int) -> LedgerCounts:
    holding = [numbers for numbers in found if any(numbers)]
    messages, facts, fact_versions, blocks, sessions, rows, without = map(sum, zip(*holding, [0] * 7, strict=False))
    return LedgerCounts(
        users=len(holding),
        messages=messages,
        facts=facts,
        fact_versions=fact_versions,
        blocks=blocks,
        sessions=sessions,
        rows=rows,
        rows_without_vector=without,
        jobs=jobs,
        bytes_on_disk=bytes_on_disk,
    )


def check(connection: Connection, *, now: datetime | None = None) -> Sequence[Finding]:
    damage = [
        Finding(check="ledger", severity="error", message=message)
        for message in (*_damage(connection), *_gaps(connection, _CHECKS))
    ]
    if full_text.exists(connection):
        damage += [
            Finding(check="full text", severity="error", message=message, repairable=True)
            for message in _gaps(connection, _FULL_TEXT_CHECKS)
        ]
    return [*damage, *(_stale(connection, now) if now is not None else ())]


def mend(connection: Connection, findings: Sequence[Finding], *, now: datetime | None) -> Sequence[Finding]:
    """Let go of a full text with gaps, and clean the states of sessions that are over. Nothing else is touched."""
    if any(one.check == "full text" for one in findings) and full_text.exists(connection):
        full_text.drop(connection)
    if now is not None:
        sessions.clean(connection, now=now)
    return [replace(one, repaired=one.repairable) for one in findings]


def _stale(connection: Connection, now: datetime) -> Iterator[Finding]:
    (states,) = connection.execute(
        "select count(*) from sessions where state is not null and expires_at <= ?", (to_micros(now),)
    ).fetchone()
    if states:
        message = f"{states} sessions are over, and still have their state"
        yield Finding(check="sessions", severity="note", message=message, repairable=True)


def _damage(connection: Connection) -> Iterator[str]:
    for (message,) in connection.execute("pragma integrity_check"):
        if message != "ok":
            yield str(message)
    for table, row, parent, _ in connection.execute("pragma foreign_key_check"):
        yield f"row {row} of {table} points to a row of {parent} that is not there"


def _gaps(connection: Connection, checks: Mapping[str, str]) -> Iterator[str]:
    for name, sql in checks.items():
        (number,) = connection.execute(sql).fetchone()
        if number:
            yield f"{number} {name}"
