"""The part of the ledger that feeds indexes and caches: `ports.feed` on its threads."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from commonplace.adapters.sqlite import feed
from commonplace.adapters.sqlite.columns import Connection
from commonplace.domain.scope import Scope
from commonplace.ports.feed import Feed, Vector, Versions

T = TypeVar("T")


class SqliteFeeding(ABC):
    _generation: int

    @abstractmethod
    async def _read(self, work: Callable[[Connection], T]) -> T: ...

    @abstractmethod
    async def _read_few(self, work: Callable[[Connection], T]) -> T: ...

    @abstractmethod
    async def _write(self, work: Callable[[Connection], T]) -> T: ...

    async def versions(self, scope: Scope) -> Versions:
        found = await self._read_few(lambda connection: feed.versions(connection, scope))
        self._generation = max(self._generation, found.generation)
        return found

    async def feed(self, scope: Scope, *, since: int = 0, vectors: bool = True) -> Feed:
        return await self._read(lambda connection: feed.feed(connection, scope, since=since, vectors=vectors))

    async def slab(self, scope: Scope, *, after: int, limit: int, vectors: bool = True) -> Feed:
        return await self._read(
            lambda connection: feed.slab(connection, scope, after=after, limit=limit, vectors=vectors)
        )

    async def rows(self, scope: Scope, numbers: Sequence[int], *, vectors: bool = True) -> Feed:
        return await self._read(lambda connection: feed.rows(connection, scope, numbers, vectors=vectors))

    async def vectors_after(self, scope: Scope, *, after: int, limit: int) -> Mapping[int, bytes]:
        return await self._read(lambda connection: feed.vectors_after(connection, scope, after=after, limit=limit))

    async def vectors(self, scope: Scope, numbers: Sequence[int]) -> Mapping[int, bytes]:
        return await self._read(lambda connection: feed.vectors(connection, scope, numbers))

    async def set_vectors(
        self,
        scope: Scope,
        vectors: Mapping[int, Vector],
        *,
        tokens: Mapping[int, bytes] | None = None,
        model: str | None = None,
    ) -> None:
        await self._write(lambda connection: feed.set_vectors(connection, scope, vectors, tokens or {}, model=model))

    async def scopes(self, tenant: str) -> Mapping[Scope, Versions]:
        return await self._read(lambda connection: feed.scopes(connection, tenant))

    async def delivered(self, scope: Scope, index: str) -> int:
        return await self._read(lambda connection: feed.delivered(connection, scope, index))

    async def set_delivered(self, scope: Scope, index: str, version: int) -> None:
        await self._write(lambda connection: feed.set_delivered(connection, scope, index, version))
