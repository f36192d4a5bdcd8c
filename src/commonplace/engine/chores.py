"""What has to be done from time to time, by one of the processes that share a ledger: whoever has the lease.

When the next turn is stands in the ledger, and is moved when a chore is done. So a restart does not do it again, and
what a killed process had begun is done by another as soon as its lease has ended.
"""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from commonplace.domain.errors import CommonplaceError, Unavailable
from commonplace.engine.duties import SECONDS, Duties
from commonplace.engine.parts import Parts

LOG = logging.getLogger(__name__)
LOOK = 60.0
"""Most seconds between two looks at whether something is due."""
PRESENT = 2.5 * LOOK
"""Seconds for which a process is taken to be there after its last look."""
RETRY = 300.0
"""Most seconds until a chore that failed is tried again."""


@dataclass(frozen=True, slots=True)
class Chore:
    name: str
    every: float
    """Seconds."""
    do: Callable[[], Awaitable[object]]


def is_due(next_turn: datetime | None, *, now: datetime, every: float) -> bool:
    """Say whether a chore is due. A turn further ahead than `every` is: the clock was set back since."""
    return next_turn is None or not now < next_turn <= now + timedelta(seconds=every)


class Chores:
    def __init__(self, parts: Parts, chores: Sequence[Chore], *, lease: float = SECONDS) -> None:
        self._parts, self._chores = parts, chores
        self._duties = Duties(parts.ledger, now=parts.now, seconds=lease)

    async def run(self) -> None:
        """Do what is due, until it is cancelled. A failure is logged, and tried again soon."""
        try:
            while True:
                await self._be_present()
                await self.once()
                await asyncio.sleep(min([LOOK, *(chore.every for chore in self._chores)]))
        finally:
            await self._duties.leave()

    async def once(self) -> list[str]:
        """Do what is due now. Returns what was done."""
        done: list[str] = []
        for chore in self._chores:
            await self._attempt(chore, done)
        return done

    async def _be_present(self) -> None:
        with contextlib.suppress(Unavailable):  # it is told again at the next look
            await self._duties.be_present(PRESENT)

    async def _attempt(self, chore: Chore, done: list[str]) -> None:
        try:
            if await self._is_due(chore):
                await self._duties.do(chore.name, lambda: self._do(chore, done))
        except Exception as error:  # noqa: BLE001 - a worker loop that records the failure
            said = str(error) if isinstance(error, CommonplaceError) else ""  # others' words may quote content
            LOG.warning("%s failed, and is tried again: %s: %s", chore.name, type(error).__name__, said)

    async def _is_due(self, chore: Chore) -> bool:
        return is_due(await self._parts.ledger.next_turn(chore.name), now=self._parts.now(), every=chore.every)

    async def _do(self, chore: Chore, done: list[str]) -> None:
        if not await self._is_due(chore):
            return  # somebody else has done it just now
        try:
            await chore.do()
        except Exception:
            await self._again(chore, after=min(chore.every, RETRY))
            raise
        await self._again(chore, after=chore.every)
        done.append(chore.name)
        LOG.info("%s is done", chore.name)

    async def _again(self, chore: Chore, *, after: float) -> None:
        await self._parts.ledger.set_turn(chore.name, at=self._parts.now() + timedelta(seconds=after))
