"""A background task ends when it is told to, whatever it is doing at that moment."""

import asyncio

import pytest

from commonplace import stopping
from commonplace.adapters.redis.keys import Keys
from commonplace.adapters.redis.news import RedisNews
from commonplace.adapters.redis.server import Access, Server
from commonplace.stopping import stop

STEPS = 60
"""Of the event loop, in which a connection is made and the channel subscribed to."""


async def test_whoever_goes_on_is_told_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stopping, "ASK_AGAIN", 0.01)
    told = 0

    async def deaf() -> None:
        nonlocal told
        while told < 3:
            try:
                await asyncio.sleep(3600)
            except asyncio.CancelledError:
                told += 1

    async def failing() -> None:
        raise ValueError("by itself")

    task, failed = asyncio.create_task(deaf()), asyncio.create_task(failing())
    await asyncio.sleep(0)
    await stop(task, failed)
    assert task.done() and told == 3
    assert isinstance(failed.exception(), ValueError)
    await stop(task, failed)
    await stop()


async def test_tidying_up_is_waited_for() -> None:
    tidy = False

    async def work() -> None:
        nonlocal tidy
        try:
            await asyncio.sleep(3600)
        finally:
            await asyncio.sleep(0.02)
            tidy = True

    task = asyncio.create_task(work())
    await asyncio.sleep(0)
    await stop(task)
    assert tidy and task.cancelled()


async def test_the_news_of_redis_end_at_whatever_step_they_are(redis_url: str) -> None:
    """The client lets cancellations fall while it connects: a memory closed soon after it was opened hung for ever."""
    late = []
    for steps in range(STEPS):
        async with Server(Access(url=redis_url)) as server:
            news = RedisNews(server, Keys("test"))
            news.listen(lambda _: None)
            for _ in range(steps):
                await asyncio.sleep(0)
            closing = asyncio.create_task(news.aclose())
            done, _ = await asyncio.wait([closing], timeout=1)
            if not done:
                late.append(steps)
            await closing
    assert late == []
