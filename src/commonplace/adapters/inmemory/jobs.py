"""Background work in a dictionary, with the promises of `ports.jobs`."""

import copy
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from commonplace.domain.errors import InvalidInput
from commonplace.ports.jobs import Job, JobStatus


class InMemoryJobs:
    def __init__(self) -> None:
        self._jobs: dict[str, Job] = {}
        self._due: dict[str, datetime | None] = {}

    async def enqueue(self, job: Job) -> None:
        if job.id not in self._jobs:
            self._jobs[job.id] = replace(job, payload=copy.deepcopy(job.payload))
            self._due[job.id] = None if job.status == "dead" else job.run_at

    async def claim(self, *, kinds: Sequence[str], now: datetime, lease: float, limit: int = 1) -> Sequence[Job]:
        due = [job for job in self._in_order(limit) if job.kind in kinds and (self._due[job.id] or now) <= now]
        taken = [replace(job, status="running", attempts=job.attempts + 1) for job in due if job.status != "dead"][
            :limit
        ]
        for job in taken:
            self._put(job, due=now + timedelta(microseconds=round(lease * 1_000_000)))
        return taken

    async def finish(self, job: str) -> None:
        self._jobs.pop(job, None)
        self._due.pop(job, None)

    async def retry(self, job: str, *, run_at: datetime, error: str) -> None:
        if job in self._jobs:
            self._put(replace(self._jobs[job], status="queued", run_at=run_at, error=error), due=run_at)

    async def bury(self, job: str, *, error: str) -> None:
        if job in self._jobs:
            self._put(replace(self._jobs[job], status="dead", error=error), due=None)

    async def jobs(self, tenant: str, *, status: JobStatus | None = None, limit: int = 100) -> Sequence[Job]:
        mine = (job for job in self._in_order(limit) if job.scope.tenant == tenant)
        return [job for job in mine if status in {None, job.status}][:limit]

    async def replay(self, tenant: str, jobs: Sequence[str] | None = None, *, now: datetime) -> int:
        dead = [job for job in self._jobs.values() if job.status == "dead" and job.scope.tenant == tenant]
        named = [job for job in dead if jobs is None or job.id in jobs]
        for job in named:
            self._put(replace(job, status="queued", attempts=0, error="", run_at=now), due=now)
        return len(named)

    def _put(self, job: Job, *, due: datetime | None) -> None:
        self._jobs[job.id], self._due[job.id] = job, due

    def _in_order(self, limit: int) -> Sequence[Job]:
        if limit < 1:
            raise InvalidInput(f"limit={limit}: expected 1 or more")
        return sorted(self._jobs.values(), key=lambda job: job.run_at)
