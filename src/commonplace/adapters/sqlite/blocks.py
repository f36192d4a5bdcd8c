"""Blocks: small named texts in an order."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from commonplace.adapters.sqlite import partitions
from commonplace.adapters.sqlite.columns import Connection, Text, text_column, text_of
from commonplace.domain.scope import Scope
from commonplace.domain.times import from_micros, to_micros
from commonplace.domain.values import Block

KEEP_PLACE = -1


def blocks(connection: Connection, scope: Scope) -> Sequence[Block]:
    partition = partitions.find(connection, scope)
    if partition is None:
        return []
    rows = connection.execute(
        "select name, text, position, updated_at from blocks where partition = ?", (partition.no,)
    )
    return sorted((_to_block(row) for row in rows), key=lambda block: (block.order, block.name))


def set_block(connection: Connection, scope: Scope, block: Block) -> Block:
    return put(connection, partitions.obtain(connection, scope).no, block)


def append(connection: Connection, scope: Scope, name: str, text: str, *, now: datetime) -> Block:
    partition = partitions.obtain(connection, scope).no
    known = find(connection, partition, name)
    longer = f"{known.text}\n{text}" if known is not None and known.text else text
    return put(connection, partition, Block(name=name, text=longer, order=KEEP_PLACE, updated_at=now))


def delete(connection: Connection, scope: Scope, name: str) -> bool:
    partition = partitions.find(connection, scope)
    if partition is None:
        return False
    deleted = connection.execute(
        "delete from blocks where partition = ? and name = ?", (partition.no, text_column(name))
    )
    return deleted.rowcount == 1


def find(connection: Connection, partition: int, name: str) -> Block | None:
    row = connection.execute(
        "select name, text, position, updated_at from blocks where partition = ? and name = ?",
        (partition, text_column(name)),
    ).fetchone()
    return None if row is None else _to_block(row)


def put(connection: Connection, partition: int, block: Block) -> Block:
    position = block.order
    if position == KEEP_PLACE:
        known = find(connection, partition, block.name)
        position = known.order if known is not None else _end(connection, partition)
    connection.execute(
        "insert or replace into blocks (partition, name, position, updated_at, text) values (?,?,?,?,?)",
        (partition, text_column(block.name), position, to_micros(block.updated_at), text_column(block.text)),
    )
    return replace(block, order=position)


def _end(connection: Connection, partition: int) -> int:
    (position,) = connection.execute(
        "select coalesce(max(position), -1) + 1 from blocks where partition = ?", (partition,)
    ).fetchone()
    return int(position)


def _to_block(row: tuple[Text, Text, int, int]) -> Block:
    name, text, position, updated_at = row
    return Block(name=text_of(name), text=text_of(text), order=position, updated_at=from_micros(updated_at))
