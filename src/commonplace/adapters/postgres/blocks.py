"""Blocks: small named texts in an order."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from commonplace.adapters.postgres import partitions
from commonplace.adapters.postgres.columns import Connection, text_column, text_of
from commonplace.adapters.postgres.partitions import NUMBER
from commonplace.domain.scope import Scope
from commonplace.domain.times import from_micros, to_micros
from commonplace.domain.values import Block

KEEP_PLACE = -1


async def blocks(connection: Connection, scope: Scope) -> Sequence[Block]:
    rows = await connection.execute(
        f"select name, text, position, updated_at from blocks where partition = {NUMBER}",
        partitions.owner_columns(scope),
    )
    return sorted(map(_to_block, await rows.fetchall()), key=lambda block: (block.order, block.name))


async def set_block(connection: Connection, scope: Scope, block: Block) -> Block:
    return await put(connection, (await partitions.obtain(connection, scope)).no, block)


async def append(connection: Connection, scope: Scope, name: str, text: str, *, now: datetime) -> Block:
    partition = (await partitions.obtain(connection, scope)).no
    known = await find(connection, partition, name)
    longer = f"{known.text}\n{text}" if known is not None and known.text else text
    return await put(connection, partition, Block(name=name, text=longer, order=KEEP_PLACE, updated_at=now))


async def delete(connection: Connection, scope: Scope, name: str) -> bool:
    deleted = await connection.execute(
        f"delete from blocks where partition = {NUMBER} and name = %s",
        (*partitions.owner_columns(scope), text_column(name)),
    )
    return deleted.rowcount == 1


async def find(connection: Connection, partition: int, name: str) -> Block | None:
    found = await connection.execute(
        "select name, text, position, updated_at from blocks where partition = %s and name = %s",
        (partition, text_column(name)),
    )
    row = await found.fetchone()
    return None if row is None else _to_block(row)


async def put(connection: Connection, partition: int, block: Block) -> Block:
    position = block.order
    if position == KEEP_PLACE:
        known = await find(connection, partition, block.name)
        position = known.order if known is not None else await _end(connection, partition)
    await connection.execute(
        "insert into blocks (partition, name, position, updated_at, text) values (%s, %s, %s, %s, %s)"
        " on conflict (partition, name) do update set"
        " position = excluded.position, updated_at = excluded.updated_at, text = excluded.text",
        (partition, text_column(block.name), position, to_micros(block.updated_at), text_column(block.text)),
    )
    return replace(block, order=position)


async def _end(connection: Connection, partition: int) -> int:
    found = await connection.execute(
        "select coalesce(max(position), -1) + 1 from blocks where partition = %s", (partition,)
    )
    (position,) = await found.fetchone() or (0,)
    return int(position)


def _to_block(row: tuple[Any, ...]) -> Block:
    name, text, position, updated_at = row
    return Block(name=text_of(name), text=text_of(text), order=position, updated_at=from_micros(updated_at))
