"""Short writes where they are asked for, as long as the disk is quick: the way to a thread and back takes as long.

Writes that come together share a transaction of the thread, and its wait for the disk. So it is with every write while
they take their time, and while somebody else writes.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import TypeVar

from commonplace.adapters.sqlite.at_hand import AtHand, would_wait
from commonplace.adapters.sqlite.columns import Connection
from commonplace.adapters.sqlite.lanes import Clock, Lane
from commonplace.ports.ledger import Change

T = TypeVar("T")

SHORT = 8
"""Rows that are written where they are kept: passages of messages, versions of facts, summaries, and what ends."""
QUICK = 0.002
"""Seconds that a write may usually take on the event loop."""
LONG = 0.02
"""Seconds that are no accident."""
STEP = 1.1
"""How far a single write moves what is usual."""
IN_A_ROW = 50
"""After so many, one goes to the thread, which moves the log into the database when it has grown."""


def is_short(changes: Sequence[Change]) -> bool:
    return sum(len(one.entries) + len(one.closed) + len(one.reinforced) for one in changes) <= SHORT


class Jotter:
    """Writes on the thread of the event loop, or has the lane do it."""

    def __init__(
        self,
        connect: Callable[[], Connection],
        lane: Lane,
        *,
        translate: Callable[[Exception], Exception],
        clock: Clock,
    ) -> None:
        self._at_hand, self._lane = AtHand(connect, begin="begin immediate"), lane
        self._translate, self._clock = translate, clock
        self._under_way = self._in_a_row = 0
        self._usual: float | None = None
        self._idle = asyncio.Event()
        self._idle.set()

    async def run(self, work: Callable[[Connection], T]) -> T:
        """Run `work` in a transaction, as `Lane.run` does."""
        self._under_way += 1
        self._idle.clear()
        try:
            # Others get their turn, as they do with a thread; and those who write at this moment come here, too.
            await asyncio.sleep(0)
            if self._under_way == 1 and self._is_quick and self._in_a_row < IN_A_ROW:
                try:
                    return self._jot(work)
                except Exception as error:  # noqa: BLE001 - raised in the words of the domain, or done by the lane
                    if not would_wait(error):
                        raise self._translate(error)  # noqa: B904 - which names its cause
            return await self._leave_to_lane(work)
        finally:
            self._under_way -= 1
            if not self._under_way:
                self._idle.set()

    async def aclose(self) -> None:
        """Finish what is under way, and let go of the connection. Nobody may begin a write any more."""
        await self._idle.wait()
        self._at_hand.close()

    @property
    def _is_quick(self) -> bool:
        return self._usual is not None and self._usual <= QUICK

    def _jot(self, work: Callable[[Connection], T]) -> T:
        started = self._clock()
        result = self._at_hand.run(work)
        self._note(self._clock() - started)
        self._in_a_row += 1
        return result

    async def _leave_to_lane(self, work: Callable[[Connection], T]) -> T:
        result = await self._lane.run(work)
        self._note(self._lane.took)
        self._in_a_row = 0
        return result

    def _note(self, took: float) -> None:
        """Follow the median, which a few slow ones do not move far; but believe at once what takes long."""
        if self._usual is None or took > LONG:
            self._usual = took
        else:
            self._usual *= STEP if took > self._usual else 1 / STEP
