"""Blocks of a partition, with what they said before."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from commonplace.adapters.inmemory.partition import Partition
from commonplace.domain.errors import Conflict
from commonplace.domain.values import BLOCK_VERSIONS, Block, BlockVersion

KEEP_PLACE = -1


def check(expected: Block | None, found: Block | None) -> None:
    """Raise Conflict unless a block is what is expected."""
    if expected is not None and found != expected:
        raise Conflict(f"block {expected.name!r} has changed since it was read")


def put(held: Partition, block: Block) -> Block:
    known, order = held.blocks.get(block.name), block.order
    if order == KEEP_PLACE:
        end = max((other.order for other in held.blocks.values()), default=-1) + 1
        order = known.order if known is not None else end
    if known is not None and known.text != block.text:
        version = BlockVersion(name=block.name, text=known.text, since=known.updated_at, until=block.updated_at)
        keep_version(held, version)
    held.blocks[block.name] = replace(block, order=order)
    return held.blocks[block.name]


def keep_version(held: Partition, version: BlockVersion) -> bool:
    """Keep an older version; False if it is known. Those beyond the last BLOCK_VERSIONS go."""
    older = held.block_versions.get(version.name, ())
    if version in older:
        return False
    held.block_versions[version.name] = (*older, version)[-BLOCK_VERSIONS:]
    return True


def delete(held: Partition, name: str) -> bool:
    held.block_versions.pop(name, None)
    return held.blocks.pop(name, None) is not None


def versions(held: Partition) -> Iterator[BlockVersion]:
    for name in sorted(held.block_versions):
        yield from held.block_versions[name]


def history(held: Partition, name: str) -> Sequence[BlockVersion]:
    known = held.blocks.get(name)
    if known is None:
        return []
    return [*held.block_versions.get(name, ()), BlockVersion(name=name, text=known.text, since=known.updated_at)]
