"""The part of the ledger that queues work and counts what it costs: `ports.jobs` on its threads."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from functools import partial
from typing import TypeVar

from commonplace.adapters.sqlite import jobs as job_queue
from commonplace.adapters.sqlite.columns import Connection
from commonplace.domain.usage import Usage
from commonplace.ports.jobs import Job, JobStatus

T = TypeVar("T")


class SqliteQueueing(ABC):
    @abstractmethod
    async def _read(self, work: Callable[[Connection], T]) -> T: ...

    @abstractmethod
    async def _write(self, work: Callable[[Connection], T]) -> T: ...

    async def enqueue(self, job: Job) -> None:
        await self._write(lambda connection: job_queue.enqueue(connection, job))

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
            partial(job_queue.claim, kinds=kinds, now=now, lease=lease, limit=limit, tenant=tenant, in_turn=in_turn)
        )

    async def renew(self, job: Job, *, now: datetime, lease: float) -> bool:
        return await self._write(lambda connection: job_queue.renew(connection, job, now=now, lease=lease))

    async def hand_back(self, job: Job) -> None:
        await self._write(lambda connection: job_queue.hand_back(connection, job))

    async def finish(self, job: str) -> None:
        await self._write(partial(job_queue.finish, job=job))

    async def retry(self, job: str, *, run_at: datetime, error: str) -> None:
        await self._write(lambda connection: job_queue.retry(connection, job, run_at=run_at, error=error))

    async def bury(self, job: str, *, error: str) -> None:
        await self._write(lambda connection: job_queue.bury(connection, job, error=error))

    async def jobs(self, tenant: str, *, status: JobStatus | None = None, limit: int = 100) -> Sequence[Job]:
        return await self._read(lambda connection: job_queue.jobs(connection, tenant, status=status, limit=limit))

    async def jobs_by_id(self, jobs: Sequence[str]) -> Mapping[str, Job]:
        return await self._read(lambda connection: job_queue.by_id(connection, jobs))

    async def count_usage(self, tenant: str, day: date, usage: Usage) -> None:
        await self._write(lambda connection: job_queue.count_usage(connection, tenant, day, usage))

    async def usage(self, tenant: str, day: date) -> Usage:
        return await self._read(lambda connection: job_queue.usage(connection, tenant, day))

    async def replay(self, tenant: str, jobs: Sequence[str] | None = None, *, now: datetime) -> int:
        return await self._write(lambda connection: job_queue.replay(connection, tenant, jobs, now=now))
