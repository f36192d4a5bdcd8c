"""Durable background work: claimed under a lease, retried, and visible when it fails."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Literal, Protocol

from commonplace.domain.scope import Scope
from commonplace.domain.usage import Usage
from commonplace.domain.values import Json

JobStatus = Literal["queued", "running", "dead"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    id: str
    scope: Scope
    kind: str
    """What is to be done, e.g. `learn`."""
    payload: Json
    """Ids only, never content: what is forgotten must not live on in a queue."""
    epoch: int
    """The scope's forget epoch when it was queued. It may not commit once that has moved on."""
    attempts: int = 0
    run_at: datetime
    status: JobStatus = "queued"
    error: str = ""


class JobLedger(Protocol):
    async def enqueue(self, job: Job) -> None: ...

    async def claim(
        self,
        *,
        kinds: Sequence[str],
        now: datetime,
        lease: float,
        limit: int = 1,
        tenant: str | None = None,
        in_turn: bool = False,
    ) -> Sequence[Job]:
        """Take jobs that are due, or whose lease has run out, for `lease` seconds. Nobody else gets them meanwhile.

        With `in_turn`, at most one of each user, and none of a user who has one running: they follow each other.
        """
        ...

    async def renew(self, job: Job, *, now: datetime, lease: float) -> bool:
        """Keep a claimed job for another `lease` seconds. False if it is no longer ours: gone, or taken again."""
        ...

    async def hand_back(self, job: Job) -> None:
        """Give up a claimed job untried, for others to take at once."""
        ...

    async def finish(self, job: str) -> None:
        """It is done: remove it. A job that is gone already is no error."""
        ...

    async def retry(self, job: str, *, run_at: datetime, error: str) -> None: ...

    async def bury(self, job: str, *, error: str) -> None:
        """It has failed for good: keep it, dead, where it can be seen and replayed."""
        ...

    async def jobs(self, tenant: str, *, status: JobStatus | None = None, limit: int = 100) -> Sequence[Job]: ...

    async def jobs_by_id(self, jobs: Sequence[str]) -> Mapping[str, Job]:
        """Return those that are not finished."""
        ...

    async def replay(self, tenant: str, jobs: Sequence[str] | None = None, *, now: datetime) -> int:
        """Queue dead jobs again, all of them if none is named. Returns how many."""
        ...

    async def epoch(self, scope: Scope) -> int:
        """Return the scope's forget epoch: raised by each forget."""
        ...

    async def count_usage(self, tenant: str, day: date, usage: Usage) -> None:
        """Add to what a tenant's models have cost on a day."""
        ...

    async def usage(self, tenant: str, day: date) -> Usage: ...
