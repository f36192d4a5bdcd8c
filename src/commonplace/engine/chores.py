"""What has to be done from time to time, by one of the processes that share a ledger: whoever takes the turn.

Turns are kept in the ledger, so two processes never do the same chore at once, and a restart does not do it again.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from commonplace.domain.errors import CommonplaceError
from commonplace.engine.parts import Parts

LOG = logging.getLogger(__name__)
LOOK = 60.0
"""Most seconds between two looks at whether something is due."""
RETRY = 300.0
"""Most seconds until a chore that failed is tried again."""


@dataclass(frozen=True, slots=True)
class Chore:
    name: str
    every: float
    """Seconds."""
    do: Callable[[], Awaitable[object]]


class Chores:
    def __init__(self, parts: Parts, chores: Sequence[Chore]) -> None:
        self._parts, self._chores = parts, chores

    async def run(self) -> None:
        """Do what is due, until it is cancelled. A failure is logged, and tried again soon."""
        while True:
            await self.once()
            await asyncio.sleep(min([LOOK, *(chore.every for chore in self._chores)]))

    async def once(self) -> list[str]:
        """Do what is due now. Returns what was done."""
        return [chore.name for chore in self._chores if await self._attempt(chore)]

    async def _attempt(self, chore: Chore) -> bool:
        ledger, now = self._parts.ledger, self._parts.now()
        try:
            if not await ledger.take_turn(chore.name, now=now, every=chore.every):
                return False
            await chore.do()
        except Exception as error:  # noqa: BLE001 - a worker loop that records the failure
            said = str(error) if isinstance(error, CommonplaceError) else ""  # others' words may quote content
            LOG.warning("%s failed, and is tried again: %s: %s", chore.name, type(error).__name__, said)
            await self._again(chore)
            return False
        LOG.info("%s is done", chore.name)
        return True

    async def _again(self, chore: Chore) -> None:
        soon = self._parts.now() + timedelta(seconds=min(chore.every, RETRY))
        try:
            await self._parts.ledger.set_turn(chore.name, at=soon)
        except CommonplaceError as error:
            LOG.warning("the next turn of %s could not be kept: %s", chore.name, type(error).__name__)
