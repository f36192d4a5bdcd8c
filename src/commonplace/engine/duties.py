"""What one of many processes does at a time: under a lease in the ledger, which is prolonged while it is being done.

A process that dies, or is stopped for longer than its lease, loses the duty; what it was doing is broken off when it
finds out. So a duty must bear to be done twice, and only then is it done once.
"""

import asyncio
import contextlib
import os
import socket
import time
from collections.abc import Awaitable, Callable
from datetime import datetime
from uuid import uuid4

from commonplace.domain.errors import Closed, Overtaken, Unavailable
from commonplace.ports.leases import Leases
from commonplace.stopping import stop

SECONDS = 30.0
"""How long a duty stays with a process that does not answer any more."""


class Duties:
    def __init__(self, leases: Leases, *, now: Callable[[], datetime], seconds: float = SECONDS) -> None:
        self._leases, self._now, self._seconds = leases, now, seconds
        self.holder = f"{socket.gethostname()}/{os.getpid()}/{uuid4().hex[:8]}"
        """Names this process, for whoever looks at the leases."""

    async def do(self, duty: str, work: Callable[[], Awaitable[object]]) -> bool:
        """Do it, unless somebody else is at it now: then False. Raises Overtaken when the lease was lost meanwhile."""
        if not await self._take(duty):
            return False
        working, keeping = asyncio.ensure_future(work()), asyncio.create_task(self._keep(duty))
        try:
            await asyncio.wait([working, keeping], return_when=asyncio.FIRST_COMPLETED)
            if not working.done():
                raise Overtaken(f"{duty}: its lease could not be prolonged, and another process may have taken over")
            await working
            return True
        finally:
            await stop(working, keeping)
            with contextlib.suppress(Unavailable, Closed):  # it ends by itself then
                await self._leases.end_lease(duty, holder=self.holder)

    async def be_present(self, seconds: float) -> None:
        """Let others see for so long that this process has the ledger open."""
        await self._leases.take_lease(self._presence, holder=self.holder, now=self._now(), seconds=seconds)

    async def leave(self) -> None:
        with contextlib.suppress(Unavailable, Closed):
            await self._leases.end_lease(self._presence, holder=self.holder)

    @property
    def _presence(self) -> str:
        return f"open in {self.holder}"

    async def _take(self, duty: str) -> bool:
        return await self._leases.take_lease(duty, holder=self.holder, now=self._now(), seconds=self._seconds)

    async def _keep(self, duty: str) -> None:
        """Return when the lease is another's, or has ended while the ledger was away."""
        end = time.monotonic() + self._seconds
        while time.monotonic() < end:
            await asyncio.sleep(self._seconds / 3)
            asked = time.monotonic()
            try:
                if not await self._take(duty):
                    return
            except Unavailable:
                continue
            end = asked + self._seconds
