"""Blocks: small named texts in an order, with what they said before."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from commonplace.adapters.sqlite import partitions
from commonplace.adapters.sqlite.columns import Connection, Text, text_column, text_of
from commonplace.domain.errors import Conflict
from commonplace.domain.scope import Scope
from commonplace.domain.times import from_micros, to_micros
from commonplace.domain.values import BLOCK_VERSIONS, Block, BlockVersion

KEEP_PLACE = -1


def blocks(connection: Connection, scope: Scope) -> Sequence[Block]:
    partition = partitions.find(connection, scope)
    if partition is None:
        return []
    rows = connection.execute(
        "select name, text, position, updated_at from blocks where partition = ?", (partition.no,)
    )
    return sorted((_to_block(row) for row in rows), key=lambda block: (block.order, block.name))


def set_block(connection: Connection, scope: Scope, block: Block, *, expected: Block | None) -> Block:
    partition = partitions.obtain(connection, scope).no
    check(expected, find(connection, partition, block.name))
    return put(connection, partition, block)


def check(expected: Block | None, found: Block | None) -> None:
    """Raise Conflict unless a block is what is expected."""
    if expected is not None and found != expected:
        raise Conflict(f"block {expected.name!r} has changed since it was read")


def append(
    connection: Connection, scope: Scope, name: str, text: str, *, now: datetime, expected: Block | None
) -> Block:
    partition = partitions.obtain(connection, scope).no
    known = find(connection, partition, name)
    check(expected, known)
    longer = f"{known.text}\n{text}" if known is not None and known.text else text
    return put(connection, partition, Block(name=name, text=longer, order=KEEP_PLACE, updated_at=now))


def delete(connection: Connection, scope: Scope, name: str, *, expected: Block | None) -> bool:
    partition = partitions.find(connection, scope)
    if partition is None:
        check(expected, None)
        return False
    check(expected, find(connection, partition.no, name))
    connection.execute("delete from block_versions where partition = ? and name = ?", (partition.no, text_column(name)))
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
    position, known = block.order, find(connection, partition, block.name)
    if position == KEEP_PLACE:
        position = known.order if known is not None else _end(connection, partition)
    if known is not None and known.text != block.text:
        since, until = known.updated_at, block.updated_at
        keep_version(connection, partition, BlockVersion(name=block.name, text=known.text, since=since, until=until))
    connection.execute(
        "insert or replace into blocks (partition, name, position, updated_at, text) values (?,?,?,?,?)",
        (partition, text_column(block.name), position, to_micros(block.updated_at), text_column(block.text)),
    )
    return replace(block, order=position)


def history(connection: Connection, scope: Scope, name: str) -> Sequence[BlockVersion]:
    partition = partitions.find(connection, scope)
    known = None if partition is None else find(connection, partition.no, name)
    if partition is None or known is None:
        return []
    older = versions(connection, partition.no, name)
    return [*older, BlockVersion(name=name, text=known.text, since=known.updated_at)]


def versions(connection: Connection, partition: int, name: str | None = None) -> Iterator[BlockVersion]:
    """Yield what a block said before, or all of them, in the order in which it was written."""
    of_one = "" if name is None else " and name = ?"
    named = () if name is None else (text_column(name),)
    for name_, text, since, until in connection.execute(
        f"select name, text, since, until from block_versions where partition = ?{of_one} order by name, no",
        (partition, *named),
    ):
        yield BlockVersion(name=text_of(name_), text=text_of(text), since=from_micros(since), until=from_micros(until))


def keep_version(connection: Connection, partition: int, version: BlockVersion) -> bool:
    """Keep an older version; False if it is known. Those beyond the last BLOCK_VERSIONS go."""
    assert version.until is not None
    name, text = text_column(version.name), text_column(version.text)
    since, until = to_micros(version.since), to_micros(version.until)
    known = connection.execute(
        "select 1 from block_versions where partition = ? and name = ? and since = ? and until = ? and text = ?",
        (partition, name, since, until, text),
    ).fetchone()
    if known is not None:
        return False
    (no,) = connection.execute(
        "select coalesce(max(no), 0) + 1 from block_versions where partition = ? and name = ?", (partition, name)
    ).fetchone()
    connection.execute(
        "insert into block_versions (partition, name, no, since, until, text) values (?,?,?,?,?,?)",
        (partition, name, no, since, until, text),
    )
    connection.execute(
        "delete from block_versions where partition = ? and name = ? and no <= ?",
        (partition, name, no - BLOCK_VERSIONS),
    )
    return True


def _end(connection: Connection, partition: int) -> int:
    (position,) = connection.execute(
        "select coalesce(max(position), -1) + 1 from blocks where partition = ?", (partition,)
    ).fetchone()
    return int(position)


def _to_block(row: tuple[Text, Text, int, int]) -> Block:
    name, text, position, updated_at = row
    return Block(name=text_of(name), text=text_of(text), order=position, updated_at=from_micros(updated_at))
