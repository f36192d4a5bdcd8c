"""Duties that one of many processes has at a time, and when each is due again.

A lease ends by itself: who dies in the middle of a duty does not prolong it, and somebody else takes over. Moments are
the caller's, so the clocks of machines that share a ledger must agree to a few seconds.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    duty: str
    holder: str
    until: datetime


class Leases(Protocol):
    async def take_lease(self, duty: str, *, holder: str, now: datetime, seconds: float) -> bool:
        """Take a duty, or prolong it. False: another holder has it, and their time is not over.

        One that lies further ahead than twice `seconds` is free: the clock was set back since.
        """
        ...

    async def end_lease(self, duty: str, *, holder: str) -> None:
        """Give a duty back before its time, if it is this holder's."""
        ...

    async def leases(self, *, now: datetime) -> Sequence[Lease]:
        """Return what is held now, in the order of the names of duties."""
        ...

    async def next_turn(self, chore: str) -> datetime | None:
        """Return when something that is done every so often is due next; None: it was never done."""
        ...

    async def set_turn(self, chore: str, *, at: datetime) -> None:
        """Say when the next turn is."""
        ...
