"""Leases and turns in dictionaries, with the promises of `ports.leases`."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from commonplace.ports.leases import Lease


class InMemoryLeases:
    def __init__(self) -> None:
        super().__init__()
        self._leases: dict[str, Lease] = {}
        self._turns: dict[str, datetime] = {}

    async def take_lease(self, duty: str, *, holder: str, now: datetime, seconds: float) -> bool:
        length, known = timedelta(seconds=seconds), self._leases.get(duty)
        if known is not None and known.holder != holder and now < known.until <= now + 2 * length:
            return False
        self._leases[duty] = Lease(duty=duty, holder=holder, until=now + length)
        return True

    async def end_lease(self, duty: str, *, holder: str) -> None:
        known = self._leases.get(duty)
        if known is not None and known.holder == holder:
            del self._leases[duty]

    async def leases(self, *, now: datetime) -> Sequence[Lease]:
        return [self._leases[duty] for duty in sorted(self._leases) if self._leases[duty].until > now]

    async def next_turn(self, chore: str) -> datetime | None:
        return self._turns.get(chore)

    async def set_turn(self, chore: str, *, at: datetime) -> None:
        self._turns[chore] = at
