"""A process that does a chore, very slowly or at once, and says so in a file. It ends when it is killed or is done."""

import asyncio
import os
from pathlib import Path
from typing import Any

from commonplace.engine.chores import Chore, Chores
from commonplace.wiring import Location, opened
from tests.care.folders import directions

LEASE = 1.0


def main(place: dict[str, Any], log: Path, seconds: float) -> None:
    asyncio.run(_run(place, log, seconds))


async def _run(place: dict[str, Any], log: Path, seconds: float) -> None:
    async def purge() -> None:
        _say(log, "begun")
        try:
            await asyncio.sleep(seconds)
        except asyncio.CancelledError:
            _say(log, "broken off")
            raise
        _say(log, "done")

    async with opened(Location(), place, directions) as parts:
        while not await Chores(parts, [Chore("purge", 3_600, purge)], lease=LEASE).once():  # noqa: ASYNC110 - as `run` does
            await asyncio.sleep(0.05)


def _say(log: Path, what: str) -> None:
    with log.open("a") as file:
        file.write(f"{what} {os.getpid()}\n")
