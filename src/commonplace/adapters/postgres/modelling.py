"""The part of the ledger that knows whose vectors it holds: `ports.models`."""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import TypeVar

from commonplace.adapters.postgres import models, own_models, partitions
from commonplace.adapters.postgres.columns import Connection
from commonplace.domain.scope import Scope
from commonplace.ports.feed import Feed, Vector, Versions
from commonplace.ports.models import Model, ModelRecord

T = TypeVar("T")


class PostgresModelling(ABC):
    _generation: int

    @abstractmethod
    async def _read(self, work: Callable[[Connection], Awaitable[T]], *, tenant: str | None) -> T: ...

    @abstractmethod
    async def _write(self, work: Callable[[Connection], Awaitable[T]], *, tenant: str | None) -> T: ...

    @property
    def generation(self) -> int:
        return self._generation

    async def own_models(self, tenant: str) -> Mapping[Scope, str]:
        return await self._read(partial(own_models.of_tenant, tenant=tenant), tenant=tenant)

    async def set_own_model(self, scope: Scope, model: str | None, *, clear: bool = False) -> None:
        await self._write(partial(own_models.record, scope=scope, model=model, clear=clear), tenant=scope.tenant)

    async def models(self) -> ModelRecord:
        return await self._read(models.record, tenant=None)

    async def everyone(self) -> Mapping[Scope, Versions]:
        return await self._read(models.everyone, tenant=None)

    async def begin_aside(self, model: Model, *, current: Model) -> None:
        await self._write(partial(models.begin, model=model, current=current), tenant=None)

    async def lacking(self, scope: Scope, *, after: int, limit: int, aside: bool) -> Feed:
        return await self._read(
            partial(models.lacking, scope=scope, after=after, limit=limit, aside=aside), tenant=scope.tenant
        )

    async def set_aside(
        self, scope: Scope, vectors: Mapping[int, Vector], *, model: str, tokens: Mapping[int, bytes] | None = None
    ) -> None:
        await self._write(
            partial(models.keep, scope=scope, vectors=vectors, model=model, tokens=tokens or {}), tenant=scope.tenant
        )

    async def aside(self, scope: Scope, numbers: Sequence[int]) -> Mapping[int, bytes]:
        return await self._read(partial(models.kept, scope=scope, numbers=numbers), tenant=scope.tenant)

    async def hold_writes(self, seconds: float) -> None:
        await self._write(partial(partitions.hold, seconds=seconds), tenant=None)

    async def switch_vectors(self, *, to: str, seen: Mapping[Scope, int] | None = None) -> int:
        generation = await self._write(partial(models.switch, to=to, seen=seen), tenant=None)
        self._generation = max(self._generation, generation)
        return generation

    async def discard_aside(self, *, limit: int) -> int:
        return await self._write(partial(models.discard, limit=limit), tenant=None)
