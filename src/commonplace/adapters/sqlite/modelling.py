"""The part of the ledger that knows whose vectors it holds: `ports.models` on its threads."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TypeVar

from commonplace.adapters.sqlite import models, own_models, partitions
from commonplace.adapters.sqlite.columns import Connection
from commonplace.domain.scope import Scope
from commonplace.ports.feed import Feed, Vector, Versions
from commonplace.ports.models import Model, ModelRecord

T = TypeVar("T")


class SqliteModelling(ABC):
    _generation: int

    @abstractmethod
    async def _read(self, work: Callable[[Connection], T]) -> T: ...

    @abstractmethod
    async def _write(self, work: Callable[[Connection], T]) -> T: ...

    @property
    def generation(self) -> int:
        return self._generation

    async def own_models(self, tenant: str) -> Mapping[Scope, str]:
        return await self._read(lambda connection: own_models.of_tenant(connection, tenant))

    async def set_own_model(self, scope: Scope, model: str | None, *, clear: bool = False) -> None:
        await self._write(lambda connection: own_models.record(connection, scope, model, clear=clear))

    async def models(self) -> ModelRecord:
        return await self._read(models.record)

    async def everyone(self) -> Mapping[Scope, Versions]:
        return await self._read(models.everyone)

    async def begin_aside(self, model: Model, *, current: Model) -> None:
        await self._write(lambda connection: models.begin(connection, model, current=current))

    async def lacking(self, scope: Scope, *, after: int, limit: int, aside: bool) -> Feed:
        return await self._read(partial(models.lacking, scope=scope, after=after, limit=limit, aside=aside))

    async def set_aside(
        self, scope: Scope, vectors: Mapping[int, Vector], *, model: str, tokens: Mapping[int, bytes] | None = None
    ) -> None:
        await self._write(lambda connection: models.keep(connection, scope, vectors, model=model, tokens=tokens or {}))

    async def aside(self, scope: Scope, numbers: Sequence[int]) -> Mapping[int, bytes]:
        return await self._read(lambda connection: models.kept(connection, scope, numbers))

    async def hold_writes(self, seconds: float) -> None:
        await self._write(lambda connection: partitions.hold(connection, seconds))

    async def switch_vectors(self, *, to: str, seen: Mapping[Scope, int] | None = None) -> int:
        self._generation = await self._write(lambda connection: models.switch(connection, to=to, seen=seen))
        return self._generation

    async def discard_aside(self, *, limit: int) -> int:
        return await self._write(lambda connection: models.discard(connection, limit=limit))
