"""Background work in a dictionary, with the promises of `ports.jobs`."""

import copy
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta

from commonplace.domain.errors import InvalidInput, Overtaken
from commonplace.domain.scope import Scope
from commonplace.domain.usage import NOTHING, Usage
from commonplace.ports.jobs import Job, JobStatus


class InMemoryJobs:
    def __init__(self) -> None:
        self._jobs: dict[str, Job] = {}
        self._due: dict[str, datetime | None] = {}
        self._usage: dict[tuple[str, date], Usage] = {}

    async def enqueue(self, job: Job) -> None:
        self._enqueue(job)

    def _enqueue(self, job: Job) -> None:
        if job.id not in self._jobs:
            self._jobs[job.id] = replace(job, payload=copy.deepcopy(job.payload))
            self._due[job.id] = None if job.status == "dead" else job.run_at

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
        due = [
            job
            for job in self._in_order(limit)
            if self._is_due(job, now) and job.kind in kinds and tenant in {None, job.scope.tenant}
        ]
        if in_turn:
            first: dict[Scope, Job] = {}
            for job in due:
                first.setdefault(job.scope, job)
            due = [job for scope, job in first.items() if not self._has_one_running(scope, now)]
        taken = [replace(job, status="running", attempts=job.attempts + 1) for job in due[:limit]]
        for job in taken:
            self._put(job, due=now + timedelta(microseconds=round(lease * 1_000_000)))
        return taken

    def _is_due(self, job: Job, now: datetime) -> bool:
        due = self._due[job.id]
        return due is not None and due <= now

    def _has_one_running(self, scope: Scope, now: datetime) -> bool:
        running = (job for job in self._jobs.values() if job.scope == scope and job.status == "running")
        return any(not self._is_due(job, now) for job in running)

    def _is_ours(self, job: Job) -> bool:
        held = self._jobs.get(job.id)
        return held is not None and (held.status, held.attempts) == ("running", job.attempts)

    async def renew(self, job: Job, *, now: datetime, lease: float) -> bool:
        if not self._is_ours(job):
            return False
        self._due[job.id] = now + timedelta(microseconds=round(lease * 1_000_000))
        return True

    async def hand_back(self, job: Job) -> None:
        if self._is_ours(job):
            self._put(replace(job, status="queued", attempts=job.attempts - 1), due=job.run_at)

    def _check_unfinished(self, jobs: Sequence[str]) -> None:
        for job in jobs:
            if job not in self._jobs:
                raise Overtaken(f"job {job!r} is finished already")

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

    async def jobs_by_id(self, jobs: Sequence[str]) -> Mapping[str, Job]:
        return {job: self._jobs[job] for job in jobs if job in self._jobs}

    async def count_usage(self, tenant: str, day: date, usage: Usage) -> None:
        self._usage[tenant, day] = await self.usage(tenant, day) + usage

    async def usage(self, tenant: str, day: date) -> Usage:
        return self._usage.get((tenant, day), NOTHING)

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
