"""How a background task is ended."""

import asyncio
from typing import Any

ASK_AGAIN = 2.0
"""Seconds that a task has for tidying up after it was told to stop."""


async def stop(*tasks: "asyncio.Future[Any]") -> None:
    """Cancel these tasks and return when all have ended.

    A task that goes on is told again: `asyncio.wait_for` of Python 3.11, and what is built on it, lets a cancellation
    fall that comes together with the answer. Whoever is cancelled only once may then never end.
    """
    going_on: set[asyncio.Future[Any]] = {task for task in tasks if not task.done()}
    while going_on:
        for task in going_on:
            task.cancel()
        _, going_on = await asyncio.wait(going_on, timeout=ASK_AGAIN)
