"""The story that the pages are tried on: somebody uses Shram, then Magnet, and stops with Shram."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from tests.interfaces.http.live import Live

T = TypeVar("T")

SAID = [
    ("2026-01-10T09:00:00+00:00", "My name is Ana. I use Shram and Magnet as productivity tools."),
    ("2026-02-01T09:00:00+00:00", "I live in Porto. I like green tea."),
    ("2026-05-12T09:30:00+00:00", "I don't use Magnet anymore."),
    ("2026-06-20T18:00:00+00:00", "I moved to Lisbon last week."),
]


def run(site: Live, work: Coroutine[Any, Any, T]) -> T:
    """Do something on the service's own loop."""
    return asyncio.run_coroutine_threadsafe(work, site.loop).result(120)


def tell_story(site: Live, user: str, *, tenant: str = "default") -> None:
    async def tell() -> None:
        memory = await site.service.memory(tenant)
        for at, text in SAID:
            await memory.add(text, user=user, session="story", at=at, wait=True)

    run(site, tell())
