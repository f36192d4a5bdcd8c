"""The worker: takes jobs under a lease, learns from their messages, tries again later, and buries what keeps failing.

What a job writes and its own removal are one transaction, so a worker that dies half-way, or is too slow, does no harm:
whoever takes the job next does all of it, once.
"""

import asyncio
import contextlib
import random
from collections import OrderedDict
from collections.abc import Sequence
from datetime import date, datetime, timedelta
from typing import NamedTuple

from commonplace.domain.errors import (
    CommonplaceError,
    InvalidInput,
    ModelRefused,
    ModelUnavailable,
    Overtaken,
    Unavailable,
    UnreadableReply,
)
from commonplace.domain.results import JobInfo, Learning
from commonplace.domain.scope import Scope
from commonplace.domain.usage import NOTHING, Usage
from commonplace.domain.values import FactChange, Message, MessageId
from commonplace.engine.committing import Committing
from commonplace.engine.learner import Learner
from commonplace.engine.parts import Parts
from commonplace.engine.summarising import SUMMARISE, Summarising
from commonplace.ports.jobs import Job, JobStatus
from commonplace.ports.ledger import Change
from commonplace.stopping import stop

LEARN = "learn"
KINDS = (LEARN, SUMMARISE)
POLL = 2.0
"""Seconds after which a worker looks for jobs that nobody told it of: other processes', and those put off."""
LONGEST_DELAY = 600.0
OUTCOMES = 1_000
"""Finished jobs whose changes are kept for who waits for them."""


class Outcome(NamedTuple):
    """What became of some jobs."""

    changes: tuple[FactChange, ...] = ()
    pending: int = 0
    notes: tuple[str, ...] = ()


def learn_job(scope: Scope, message: Message, *, id_: str, error: str = "") -> Job:
    """Return the job to learn from a message. A user's jobs run in the order in which things were said."""
    run_at = min(message.at, message.recorded_at)
    return Job(id=id_, scope=scope, kind=LEARN, payload={"message": message.id}, epoch=0, run_at=run_at, error=error)


def told(error: Exception) -> str:
    """Return what may be kept of an error: our own words; of others' only the name, for theirs may quote content."""
    name = type(error).__name__
    return f"{name}: {error}" if isinstance(error, CommonplaceError) else name


def delay(attempts: int, *, first: float, chance: float) -> float:
    """Return the seconds until the next try: doubled each time, and spread so that jobs do not return all at once."""
    return float(min(first * 2 ** (attempts - 1), LONGEST_DELAY) * (0.5 + chance))


class Worker:
    """Runs in the event loop of the memory that owns it, as soon as there is something to do."""

    def __init__(self, parts: Parts, learner: Learner | None, committing: Committing, summarising: Summarising) -> None:
        self._parts, self._learner, self._committing, self._summarising = parts, learner, committing, summarising
        summarising.wake = self.wake
        self._options = parts.options
        self._loop: asyncio.Task[None] | None = None
        self._running: dict[asyncio.Task[None], Job] = {}
        self._awake = asyncio.Event()
        self._news = asyncio.Event()
        self._outcomes: OrderedDict[str, tuple[FactChange, ...]] = OrderedDict()
        self._closed = False

    async def start(self) -> None:
        """Begin at once if jobs may be there: with a slow extractor, or when some were left over."""
        if not self._can_work:
            return
        slow = self._summarising.by_model or (self._learner is not None and not self._learner.inline)
        if slow or await self._parts.ledger.jobs(self._options.tenant, limit=1):
            self.wake()

    def wake(self) -> None:
        """There is work, or may be."""
        self._awake.set()
        if self._loop is None and self._can_work and not self._closed:
            self._loop = asyncio.create_task(self._work(), name="commonplace-worker")

    @property
    def _can_work(self) -> bool:
        return self._learner is not None or self._summarising.by_model

    async def aclose(self) -> None:
        """Stop, and hand back what is under way."""
        self._closed = True
        self._awake.set()
        if self._loop is not None:
            await asyncio.wait([self._loop])  # not cancelled: it might have just claimed something
            self._loop = None
        under_way = dict(self._running)
        await stop(*under_way)
        for job in under_way.values():
            await self._parts.ledger.hand_back(job)

    async def wait(self, jobs: Sequence[str]) -> Outcome:
        """Wait until these jobs are done or have failed for good; not for a pause to end."""
        self.wake()
        while True:
            news = self._news
            unfinished = await self._parts.ledger.jobs_by_id(jobs)
            waiting = [job for job in unfinished.values() if job.status != "dead"]
            pause = await self._pause() if waiting else ""
            if not waiting or pause or self._closed:
                break
            await _until(news, POLL)
        notes = [f"learning from {_message(job)} failed: {job.error}" for job in unfinished.values() if job.error]
        changes = tuple(change for job in jobs for change in self._outcomes.get(job, ()))
        return Outcome(changes, len(waiting), (*notes, *([pause] if pause else [])))

    async def jobs(self, status: JobStatus | None, *, limit: int) -> list[JobInfo]:
        jobs = await self._parts.ledger.jobs(self._options.tenant, status=status, limit=limit)
        return [
            JobInfo(
                id=job.id,
                kind=job.kind,
                user=job.scope.user,
                message=_message(job),
                status=job.status,
                attempts=job.attempts,
                run_at=job.run_at,
                error=job.error,
            )
            for job in jobs
            if job.kind in KINDS
        ]

    async def replay(self, jobs: Sequence[str] | None) -> int:
        replayed = await self._parts.ledger.replay(self._options.tenant, jobs, now=self._parts.now())
        if replayed:
            self.wake()
        return replayed

    async def learning(self) -> Learning:
        """Return what learning has cost today, and why it rests, if it does."""
        today, budget = self._today(), self._options.learning_tokens_per_day
        usage = await self._parts.ledger.usage(self._options.tenant, today)
        paused = ""
        if budget is not None and usage.tokens >= budget:
            paused = (
                f"learning rests until {_tomorrow(today)} UTC: {usage.tokens:,} of {budget:,} tokens a day are used"
            )
        price = self._options.learning_price
        cost = None if price is None else price.of(usage)
        return Learning(usage=usage, tokens_per_day=budget, paused=paused, cost=cost)

    async def _pause(self) -> str:
        return (await self.learning()).paused if self._options.learning_tokens_per_day is not None else ""

    def _today(self) -> date:
        return self._parts.now().date()

    async def _work(self) -> None:
        while not self._closed:
            self._awake.clear()
            taken = 0
            # Busy or away, the ledger keeps the jobs: they are asked for again.
            with contextlib.suppress(Unavailable):
                taken = await self._take()
            if not taken and not self._closed:
                await _until(self._awake, POLL)

    async def _take(self) -> int:
        free = self._options.learning_concurrency - len(self._running)
        if free < 1 or await self._pause():
            return 0
        jobs = await self._parts.ledger.claim(
            kinds=KINDS if self._learner is not None else [SUMMARISE],
            now=self._parts.now(),
            lease=self._options.learning_lease,
            limit=free,
            tenant=self._options.tenant,
            in_turn=True,
        )
        for job in jobs:
            task = asyncio.create_task(self._attempt(job), name=f"commonplace-{job.kind}")
            self._running[task] = job
            task.add_done_callback(self._ended)
        return len(jobs)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._running.pop(task, None)
        self._awake.set()
        self._news.set()
        self._news = asyncio.Event()

    async def _attempt(self, job: Job) -> None:
        renewing = asyncio.create_task(self._renew(job))
        try:
            changes = await (self._learn(job) if job.kind == LEARN else self._sum_up(job))
        except Overtaken:
            # A forget takes what it concerns out of the queue, and queues the rest again: that is no longer ours.
            with contextlib.suppress(Unavailable):
                if await self._parts.ledger.renew(job, now=self._parts.now(), lease=0):
                    await self._parts.ledger.finish(job.id)
        except Exception as error:  # noqa: BLE001 - recorded with the job
            with contextlib.suppress(Unavailable):  # the ledger is away: the job is free again when its lease has ended
                await self._failed(job, error)
        else:
            self._outcomes[job.id] = changes
            while len(self._outcomes) > OUTCOMES:
                self._outcomes.popitem(last=False)
        finally:
            renewing.cancel()

    async def _renew(self, job: Job) -> None:
        lease = self._options.learning_lease
        held = True
        while held:
            await asyncio.sleep(lease / 3)
            with contextlib.suppress(Unavailable):
                held = await self._parts.ledger.renew(job, now=self._parts.now(), lease=lease)

    async def _learn(self, job: Job) -> tuple[FactChange, ...]:
        learner, scope = self._learner, job.scope
        if learner is None:
            raise InvalidInput("learn: nothing learns here; it was switched off")
        message = _message(job)
        found = await self._parts.ledger.messages_by_id(scope, [message])
        done = Change(finished_jobs=[job.id], epoch=job.epoch)
        if message not in found:
            raise Overtaken(f"message {message!r} is gone")
        reading = await learner.read(scope, found[message])
        await self._spent(scope, reading.usage)
        if not reading.claims:
            await self._parts.ledger.write(scope, done)
            return ()
        drafts = await self._committing.commit(scope, lambda: learner.decide(scope, [reading]), also=[done])
        return tuple(change for draft in drafts for change in draft.history)

    async def _sum_up(self, job: Job) -> tuple[FactChange, ...]:
        await self._spent(job.scope, await self._summarising.work(job))
        return ()

    async def _spent(self, scope: Scope, usage: Usage) -> None:
        if usage != NOTHING:
            await self._parts.ledger.count_usage(scope.tenant, self._today(), usage)

    async def _failed(self, job: Job, error: Exception) -> None:
        """Put the job off, or bury it: at the last attempt, or if trying again would only cost more of the same."""
        hopeless = isinstance(error, (UnreadableReply, ModelRefused, InvalidInput))
        if isinstance(error, UnreadableReply):
            await self._spent(job.scope, error.usage)
        if hopeless or job.attempts >= self._options.learning_attempts:
            await self._parts.ledger.bury(job.id, error=told(error))
            return
        pause = delay(job.attempts, first=self._options.learning_retry_delay, chance=random.random())
        if isinstance(error, ModelUnavailable) and error.retry_after is not None:
            pause = min(max(pause, error.retry_after), LONGEST_DELAY)
        run_at = self._parts.now() + timedelta(seconds=pause)
        await self._parts.ledger.retry(job.id, run_at=run_at, error=told(error))
        asyncio.get_running_loop().call_later(pause, self._awake.set)


def _message(job: Job) -> MessageId:
    payload = job.payload
    assert isinstance(payload, dict)
    several = payload.get("messages")
    return MessageId(str(several[0] if isinstance(several, list) else payload["message"]))


def _tomorrow(today: date) -> datetime:
    return datetime(today.year, today.month, today.day) + timedelta(days=1)  # noqa: DTZ001 - shown with "UTC" after it


async def _until(event: asyncio.Event, seconds: float) -> None:
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(event.wait(), seconds)
