"""The part of the ledger that holds blocks, on its threads."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TypeVar

from commonplace.adapters.sqlite import blocks
from commonplace.adapters.sqlite.columns import Connection
from commonplace.domain.scope import Scope
from commonplace.domain.values import Block, BlockVersion

T = TypeVar("T")


class SqliteBlocks(ABC):
    @abstractmethod
    async def _read(self, work: Callable[[Connection], T]) -> T: ...

    @abstractmethod
    async def _write(self, work: Callable[[Connection], T]) -> T: ...

    async def blocks(self, scope: Scope) -> Sequence[Block]:
        return await self._read(lambda connection: blocks.blocks(connection, scope))

    async def set_block(self, scope: Scope, block: Block, *, expected: Block | None = None) -> Block:
        return await self._write(lambda connection: blocks.set_block(connection, scope, block, expected=expected))

    async def append_block(
        self, scope: Scope, name: str, text: str, *, now: datetime, expected: Block | None = None
    ) -> Block:
        return await self._write(
            lambda connection: blocks.append(connection, scope, name, text, now=now, expected=expected)
        )

    async def delete_block(self, scope: Scope, name: str, *, expected: Block | None = None) -> bool:
        return await self._write(lambda connection: blocks.delete(connection, scope, name, expected=expected))

    async def block_history(self, scope: Scope, name: str) -> Sequence[BlockVersion]:
        return await self._read(lambda connection: blocks.history(connection, scope, name))
