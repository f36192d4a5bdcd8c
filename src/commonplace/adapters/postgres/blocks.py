"""Blocks: small named texts in an order, with what they said before."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from commonplace.adapters.postgres import partitions
from commonplace.adapters.postgres.columns import Connection, text_column, text_of
from commonplace.adapters.postgres.partitions import NUMBER
from commonplace.domain.errors import Conflict
from commonplace.domain.scope import Scope
from commonplace.domain.times import from_micros, to_micros
from commonplace.domain.values import BLOCK_VERSIONS, Block, BlockVersion

KEEP_PLACE = -1


async def blocks(connection: Connection, scope: Scope) -> Sequence[Block]:
    rows = await connection.execute(
        f"select name, text, position, updated_at from blocks where partition = {NUMBER}",
        partitions.owner_columns(scope),
    )
    return sorted(map(_to_block, await rows.fetchall()), key=lambda block: (block.order, block.name))


async def set_block(connection: Connection, scope: Scope, block: Block, *, expected: Block | None = None) -> Block:
    partition = (await partitions.obtain(connection, scope)).no
    check(expected, await find(connection, partition, block.name))
    return await put(connection, partition, block)


def check(expected: Block | None, found: Block | None) -> None:
    """Raise Conflict unless a block is what is expected. Nobody else writes: the partition is locked."""
    if expected is not None and found != expected:
        raise Conflict(f"block {expected.name!r} has changed since it was read")


async def append(
    connection: Connection, scope: Scope, name: str, text: str, *, now: datetime, expected: Block | None = None
) -> Block:
    partition = (await partitions.obtain(connection, scope)).no
    known = await find(connection, partition, name)
    check(expected, known)
    longer = f"{known.text}\n{text}" if known is not None and known.text else text
    return await put(connection, partition, Block(name=name, text=longer, order=KEEP_PLACE, updated_at=now))


async def delete(connection: Connection, scope: Scope, name: str, *, expected: Block | None = None) -> bool:
    partition = await partitions.lock(connection, scope)
    if partition is None:
        check(expected, None)
        return False
    check(expected, await find(connection, partition.no, name))
    of_it = (partition.no, text_column(name))
    await connection.execute("delete from block_versions where partition = %s and name = %s", of_it)
    deleted = await connection.execute("delete from blocks where partition = %s and name = %s", of_it)
    return deleted.rowcount == 1


async def find(connection: Connection, partition: int, name: str) -> Block | None:
    found = await connection.execute(
        "select name, text, position, updated_at from blocks where partition = %s and name = %s",
        (partition, text_column(name)),
    )
    row = await found.fetchone()
    return None if row is None else _to_block(row)


async def put(connection: Connection, partition: int, block: Block) -> Block:
    position, known = block.order, await find(connection, partition, block.name)
    if known is not None and known.text != block.text:
        since, until = known.updated_at, block.updated_at
        version = BlockVersion(name=block.name, text=known.text, since=since, until=until)
        await keep_version(connection, partition, version)
    if position == KEEP_PLACE:
        position = known.order if known is not None else await _end(connection, partition)
    await connection.execute(
        "insert into blocks (partition, name, position, updated_at, text) values (%s, %s, %s, %s, %s)"
        " on conflict (partition, name) do update set"
        " position = excluded.position, updated_at = excluded.updated_at, text = excluded.text",
        (partition, text_column(block.name), position, to_micros(block.updated_at), text_column(block.text)),
    )
    return replace(block, order=position)


async def history(connection: Connection, scope: Scope, name: str) -> Sequence[BlockVersion]:
    partition = await partitions.find(connection, scope)
    known = None if partition is None else await find(connection, partition.no, name)
    if partition is None or known is None:
        return []
    older = await versions(connection, partition.no, name)
    return [*older, BlockVersion(name=name, text=known.text, since=known.updated_at)]


async def versions(connection: Connection, partition: int, name: str | None = None) -> Sequence[BlockVersion]:
    """Return what a block said before, or all of them, in the order in which it was written."""
    found = await connection.execute(
        "select name, text, since, until from block_versions"
        " where partition = %s and (%s::text is null or name = %s) order by name, no",
        (partition, *[None if name is None else text_column(name)] * 2),
    )
    return [
        BlockVersion(name=text_of(name), text=text_of(text), since=from_micros(since), until=from_micros(until))
        for name, text, since, until in await found.fetchall()
    ]


async def keep_version(connection: Connection, partition: int, version: BlockVersion) -> bool:
    """Keep an older version; False if it is known. Those beyond the last BLOCK_VERSIONS go."""
    if version in await versions(connection, partition, version.name):
        return False
    assert version.until is not None
    name = text_column(version.name)
    found = await connection.execute(
        "select coalesce(max(no), 0) + 1 from block_versions where partition = %s and name = %s", (partition, name)
    )
    (no,) = await found.fetchone() or (1,)
    await connection.execute(
        "insert into block_versions (partition, name, no, since, until, text) values (%s, %s, %s, %s, %s, %s)",
        (partition, name, no, to_micros(version.since), to_micros(version.until), text_column(version.text)),
    )
    await connection.execute(
        "delete from block_versions where partition = %s and name = %s and no <= %s",
        (partition, name, no - BLOCK_VERSIONS),
    )
    return True


async def _end(connection: Connection, partition: int) -> int:
    found = await connection.execute(
        "select coalesce(max(position), -1) + 1 from blocks where partition = %s", (partition,)
    )
    (position,) = await found.fetchone() or (0,)
    return int(position)


def _to_block(row: tuple[Any, ...]) -> Block:
    name, text, position, updated_at = row
    return Block(name=text_of(name), text=text_of(text), order=position, updated_at=from_micros(updated_at))
