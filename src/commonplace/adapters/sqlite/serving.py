"""The part of the ledger that the service needs: `ports.keys` and `ports.answers` on its threads."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from typing import TypeVar

from commonplace.adapters.sqlite import answers
from commonplace.adapters.sqlite import keys as key_ring
from commonplace.adapters.sqlite.columns import Connection
from commonplace.domain.keys import Key
from commonplace.domain.scope import Scope
from commonplace.ports.answers import Answer, Asked, Instead

T = TypeVar("T")


class SqliteServing(ABC):
    @abstractmethod
    async def _read(self, work: Callable[[Connection], T]) -> T: ...

    @abstractmethod
    async def _read_few(self, work: Callable[[Connection], T]) -> T: ...

    @abstractmethod
    async def _write(self, work: Callable[[Connection], T]) -> T: ...

    async def add_key(self, key: Key) -> None:
        await self._write(lambda connection: key_ring.add(connection, key))

    async def find_key(self, key: str) -> Key | None:
        return await self._read_few(lambda connection: key_ring.find(connection, key))

    async def keys(self, tenant: str | None = None) -> Sequence[Key]:
        return await self._read(lambda connection: key_ring.keys(connection, tenant))

    async def revoke_key(self, key: str, *, at: datetime) -> bool:
        return await self._write(lambda connection: key_ring.revoke(connection, key, at=at))

    async def any_usable_key(self, *, now: datetime) -> bool:
        return await self._read_few(lambda connection: key_ring.any_usable(connection, now=now))

    async def begin_answer(self, asked: Asked, *, now: datetime, lease: float) -> Instead | None:
        return await self._write(partial(answers.begin, asked=asked, now=now, lease=lease))

    async def keep_answer(self, asked: Asked, answer: Answer, *, whose: Scope | None, until: datetime) -> None:
        await self._write(partial(answers.keep, asked=asked, answer=answer, whose=whose, until=until))

    async def drop_answer(self, asked: Asked) -> None:
        await self._write(partial(answers.drop, asked=asked))
