"""AsyncMemory: the engine, and the ways to open it."""

import asyncio
from collections.abc import Generator
from contextlib import AsyncExitStack
from dataclasses import replace
from os import PathLike, fspath
from typing import Any, Self

from commonplace.domain.inputs import parse_name
from commonplace.domain.progress import Progress, unseen
from commonplace.domain.snapshots import Restored
from commonplace.engine.engine import Engine
from commonplace.engine.sessions import AsyncSession
from commonplace.engine.snapshotting import LATEST
from commonplace.wiring import Embed, Embeds, Location, opened, restored

__all__ = ["AsyncMemory", "AsyncSession", "Opening", "OpensLater"]


class AsyncMemory(Engine):
    """Long-term memory, for code that has an event loop."""

    @classmethod
    def open(
        cls,
        location: str | PathLike[str] | None = None,
        *,
        tenant: str | None = None,
        embedder: Embed | None = None,
        embedders: Embeds | None = None,
        model: str | None = None,
        **settings: object,
    ) -> "Opening":
        """Open a folder, `sqlite:///…` or `postgresql://…`, with any setting by name. Use `async with`, or await it.

        `embedders` are those of tenants and users that have one of their own, by `tenant` or `tenant/user`.
        """
        place = Location.parse(location)
        return Opening(place, settings | _given(tenant=tenant, agent_model=model), embedder, embedders)

    @classmethod
    def ephemeral(
        cls,
        *,
        tenant: str | None = None,
        embedder: Embed | None = None,
        embedders: Embeds | None = None,
        model: str | None = None,
        **settings: object,
    ) -> "Opening":
        """A memory that is kept in this process only."""
        return Opening(Location.nowhere(), settings | _given(tenant=tenant, agent_model=model), embedder, embedders)

    async def beside(self, tenant: str) -> "AsyncMemory":
        """Return the memory of another tenant on the same parts. Close it before this one."""
        options = replace(self._parts.options, tenant=parse_name(tenant, name="tenant"))
        memory = AsyncMemory(replace(self._parts, options=options), beside=self)
        await memory.start()
        return memory

    @classmethod
    async def restore_snapshot(
        cls,
        source: str | PathLike[str],
        into: str | PathLike[str],
        *,
        name: str = LATEST,
        progress: Progress = unseen,
        **settings: object,
    ) -> Restored:
        """Bring a snapshot back, from the place where it is kept into a new folder or an empty database.

        What was forgotten since it was made is forgotten again before anybody can read it.
        """
        return await restored(fspath(source), Location.parse(into), settings, name=name, progress=progress)


class Opening:
    """A memory about to be opened: `async with AsyncMemory.open(…) as memory`, or `await AsyncMemory.open(…)`.

    Awaited again, it is the same memory.
    """

    def __init__(
        self,
        location: Location,
        settings: dict[str, object],
        embedder: Embed | None,
        embedders: Embeds | None = None,
    ) -> None:
        self._location, self._settings = location, settings
        self._embedder, self._embedders = embedder, embedders
        self._memory: AsyncMemory | None = None
        self._first = asyncio.Lock()

    def __await__(self) -> Generator[Any, None, AsyncMemory]:
        return self._once().__await__()

    async def __aenter__(self) -> AsyncMemory:
        return await self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close the memory, if it was opened."""
        if self._memory is not None:
            await self._memory.aclose()

    async def _once(self) -> AsyncMemory:
        async with self._first:
            self._memory = self._memory or await self._open()
            return self._memory

    async def _open(self) -> AsyncMemory:
        async with AsyncExitStack() as stack:
            given = _given(**self._settings)
            parts = await stack.enter_async_context(opened(self._location, given, self._embedder, self._embedders))
            memory = AsyncMemory(parts, stack.pop_all())
            try:
                await memory.start()
            except BaseException:
                await memory.aclose()
                raise
            return memory


class OpensLater:
    """Base of a class that is made without `await` and asks a memory: it is opened at the first call."""

    def __init__(self, location: str | PathLike[str] | None = None, **settings: Any) -> None:
        self._memory = AsyncMemory.open(location, **settings)

    async def opened(self) -> AsyncMemory:
        """Return the memory underneath."""
        return await self._memory

    async def close(self) -> None:
        await self._memory.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


def _given(**arguments: object) -> dict[str, object]:
    """An argument that is left out does not undo the setting of that name."""
    return {name: value for name, value in arguments.items() if value is not None}
