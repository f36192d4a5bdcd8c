"""The part of the ledger that queues work and counts what it costs: `ports.jobs` on its connections."""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import date, datetime
from functools import partial
from typing import TypeVar

from commonplace.adapters.postgres import jobs as job_queue
from commonplace.adapters.postgres.columns import Connection
from commonplace.domain.usage import Usage
from commonplace.ports.jobs import Job, JobStatus

T = TypeVar("T")


class PostgresQueueing(ABC):
    @abstractmethod
    async def _read(self, work: Callable[[Connection], Awaitable[T]], *, tenant: str | None) -> T: ...

    @abstractmethod
    async def _write(self, work: Callable[[Connection], Awaitable[T]], *, tenant: str | None) -> T: ...

    async def enqueue(self, job: Job) -> None:
        await self._write(partial(job_queue.enqueue, job=job), tenant=job.scope.tenant)

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
        return await self._write(
            partial(job_queue.claim, kinds=kinds, now=now, lease=lease, limit=limit, tenant=tenant, in_turn=in_turn),
            tenant=tenant,
        )

    async def renew(self, job: Job, *, now: datetime, lease: float) -> bool:
        return await self._write(partial(job_queue.renew, job=job, now=now, lease=lease), tenant=job.scope.tenant)

    async def hand_back(self, job: Job) -> None:
        await self._write(partial(job_queue.hand_back, job=job), tenant=job.scope.tenant)

    async def finish(self, job: str) -> None:
        await self._write(partial(job_queue.finish, job=job), tenant=None)

    async def retry(self, job: str, *, run_at: datetime, error: str) -> None:
        await self._write(partial(job_queue.retry, job=job, run_at=run_at, error=error), tenant=None)

    async def bury(self, job: str, *, error: str) -> None:
        await self._write(partial(job_queue.bury, job=job, error=error), tenant=None)

    async def jobs(self, tenant: str, *, status: JobStatus | None = None, limit: int = 100) -> Sequence[Job]:
        return await self._read(partial(job_queue.jobs, tenant=tenant, status=status, limit=limit), tenant=tenant)

    async def jobs_by_id(self, jobs: Sequence[str]) -> Mapping[str, Job]:
        return await self._read(partial(job_queue.by_id, jobs=jobs), tenant=None)

    async def count_usage(self, tenant: str, day: date, usage: Usage) -> None:
        await self._write(partial(job_queue.count_usage, tenant=tenant, day=day, usage=usage), tenant=tenant)

    async def usage(self, tenant: str, day: date) -> Usage:
        return await self._read(partial(job_queue.usage, tenant=tenant, day=day), tenant=tenant)

    async def replay(self, tenant: str, jobs: Sequence[str] | None = None, *, now: datetime) -> int:
        return await self._write(partial(job_queue.replay, tenant=tenant, jobs=jobs, now=now), tenant=tenant)
