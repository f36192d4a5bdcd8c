"""A process that learns from what waits and tends to the memory, of one tenant or of each that has a key."""

import asyncio
import contextlib
import signal
from collections.abc import Callable, Mapping
from datetime import UTC, datetime

from commonplace.domain.errors import Unavailable
from commonplace.memory import AsyncMemory
from commonplace.ports.keys import KeyRing
from commonplace.settings import Settings
from commonplace.wiring import open_keys

LOOK = 30.0
"""Seconds between two looks for tenants that are new."""


async def work(settings: Settings, overrides: Mapping[str, object], *, one: bool, begun: Callable[[], None]) -> None:
    """Work until SIGTERM. What is under way is handed back."""
    async with AsyncMemory.open(**overrides) as home, open_keys(settings) as keys:  # type: ignore[arg-type]
        working = asyncio.ensure_future(home.work() if one else _for_everybody(home, settings.tenant, keys))
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, working.cancel)
        begun()
        with contextlib.suppress(asyncio.CancelledError):
            await working


async def _for_everybody(home: AsyncMemory, own: str, keys: KeyRing) -> None:
    async with contextlib.AsyncExitStack() as opened, asyncio.TaskGroup() as group:
        group.create_task(home.work())
        known = {own}
        while True:
            for tenant in await _tenants(keys) - known:
                memory = await home.beside(tenant)
                opened.push_async_callback(memory.aclose)
                group.create_task(memory.work())
                known.add(tenant)
            await asyncio.sleep(LOOK)


async def _tenants(keys: KeyRing) -> set[str]:
    try:
        return {key.tenant for key in await keys.keys() if key.usable(datetime.now(UTC))}
    except Unavailable:
        return set()  # they are asked for again
