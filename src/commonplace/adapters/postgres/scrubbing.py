"""The bytes of what was removed: tables are written anew, and the write-ahead log is let go of, as far as we may.

A DELETE leaves the row where it was, and VACUUM only marks its place as free: of what a user had said, 12 copies of 400
were left in the pages of the table, and all 200 of the long ones in its TOAST table. VACUUM FULL left none there. What
the server has handed on (archives, replicas, backups) cannot be seen from here, so no receipt speaks for it.
"""

import asyncio
from collections.abc import Iterable, Sequence
from typing import Any, LiteralString, NamedTuple

from psycopg import errors, sql

from commonplace.adapters.postgres.columns import Connection
from commonplace.adapters.postgres.partitions import VECTORS
from commonplace.domain.errors import LedgerUnavailable

TABLES = (
    "messages",
    "attachments",
    "passages",
    "facts",
    "fact_history",
    "fact_sources",
    "summaries",
    *VECTORS,
    "full_text",
    "blocks",
    "block_versions",
    "sessions",
    "jobs",
    "embeddings",
    "answers",
)
"""All that hold words, or what was made of them."""

PATIENCE = 1.0
"""Seconds to wait for a table that others use, for they wait behind us; then they get their turn."""
ATTEMPTS = 10

ELSEWHERE = "archives, replicas and backups of the PostgreSQL server are not seen from here: they may still hold it"
IN_THE_LOG = (
    "the write-ahead log of the PostgreSQL server may hold it until it is overwritten: see docs/postgresql.md for the"
    " settings that let go of it at once"
)
_USED = """
    select name, pg_total_relation_size(c.oid), pg_relation_filenode(c.oid)
    from unnest(%s::text[]) as t (name) join pg_class c on c.oid = to_regclass(name)
    where pg_relation_size(c.oid) > 0 or pg_relation_size(nullif(c.reltoastrelid, 0)) > 0
"""
"""An autovacuum may have emptied a table, and be yet to come to its long texts."""
_MAY_EMPTY_THE_LOG = """
    select has_function_privilege('pg_switch_wal()', 'execute') and pg_has_role('pg_checkpoint', 'usage')
"""
_KEEPS_ITS_LOG = """
    select current_setting('wal_recycle')::boolean or current_setting('wal_keep_size') <> '0'
        or current_setting('archive_mode') <> 'off'
        or exists (select 1 from pg_replication_slots)
"""


class _Table(NamedTuple):
    size: int
    file: int


async def scrub(connection: Connection, *, rewrite_up_to: int) -> Sequence[str]:
    """Leave as little as can be of what was removed. Returns, for the receipt, what may still hold it."""
    notes = await _rewrite(connection, up_to=rewrite_up_to)
    return [*notes, *(() if await _empty_the_log(connection) else (IN_THE_LOG,)), ELSEWHERE]


async def _rewrite(connection: Connection, *, up_to: int) -> Sequence[str]:
    before = await _used(connection)
    size = sum(table.size for table in before.values())
    if size > up_to:
        await _vacuum(connection, "vacuum {}", before)
        return [
            f"the tables of the ledger take {size:,} bytes, more than the {up_to:,} that a forget writes anew, so free"
            " places in them may hold it until they are used again: VACUUM FULL removes it"
        ]
    await _vacuum(connection, "vacuum (full) {}", before)
    after = await _used(connection)
    # The server skips, with a warning, what this role does not own; so look.
    kept = [name for name, table in before.items() if name in after and after[name].file == table.file]
    if not kept:
        return []
    return [f"this role may not VACUUM {', '.join(kept)}, so free places in them may hold it until they are used again"]


async def _vacuum(connection: Connection, command: LiteralString, tables: Iterable[str]) -> None:
    named = sql.SQL(", ").join(map(sql.Identifier, tables))
    await connection.execute("select set_config('lock_timeout', %s, false)", (f"{round(PATIENCE * 1000)}ms",))
    try:
        for _ in range(ATTEMPTS):
            try:
                await connection.execute(sql.SQL(command).format(named))
            except errors.LockNotAvailable:
                await asyncio.sleep(PATIENCE)
            else:
                return
    finally:
        await connection.execute("set lock_timeout = 0")
    raise LedgerUnavailable("others are using the tables all the time, so they could not be written anew")


async def _empty_the_log(connection: Connection) -> bool:
    """Begin a new part of the log and let go of the older ones. Returns whether they are gone."""
    (allowed,) = await _one(connection, _MAY_EMPTY_THE_LOG)
    if not allowed:
        return False
    await connection.execute("select pg_switch_wal()")
    await connection.execute("checkpoint")
    (keeps,) = await _one(connection, _KEEPS_ITS_LOG)
    return not keeps


async def _one(connection: Connection, question: str, *values: object) -> tuple[Any, ...]:
    row = await (await connection.execute(question, values)).fetchone()
    assert row is not None
    return row


async def _used(connection: Connection) -> dict[str, _Table]:
    found = await connection.execute(_USED, (list(TABLES),))
    return {name: _Table(size, file) for name, size, file in await found.fetchall()}
