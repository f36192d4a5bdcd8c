"""The methods of AsyncClient that look after what is kept, and those that only where the memory is make sense."""

import asyncio
from collections.abc import Iterable
from dataclasses import replace

from commonplace.client.asking import Asking
from commonplace.domain.errors import NotBuiltYet
from commonplace.domain.inputs import parse_optional_name
from commonplace.domain.plain import from_json
from commonplace.domain.progress import Progress, unseen
from commonplace.domain.receipts import Receipt
from commonplace.domain.results import Added, Checkup, JobInfo, Reindexed, Relearned, Stats
from commonplace.engine.finding import Moment

POLL = 0.5


class RemoteCaring:
    _asking: Asking

    async def forget(
        self,
        *,
        user: str | None = None,
        session: str | None = None,
        before: Moment | None = None,
        message: str | None = None,
        fact: str | None = None,
        anonymous: bool = False,
        whole_tenant: str | None = None,
        dry_run: bool = False,
        progress: Progress = unseen,
    ) -> Receipt:
        """Remove a user, or the part that is named, from every store and every file, and look that it is gone."""
        answer = await self._asking.call(
            "POST",
            "/v1/forget",
            user=user,
            session=session,
            before=before,
            message=message,
            fact=fact,
            anonymous=anonymous,
            whole_tenant=whole_tenant,
            dry_run=dry_run,
        )
        return from_json(Receipt, answer)

    async def receipts(self, *, user: str | None = None) -> list[Receipt]:
        """Return the receipts of what was forgotten of a user, oldest first."""
        answer = await self._asking.get("/v1/receipts", user=parse_optional_name(user, name="user"))
        return [from_json(Receipt, item) for item in answer["items"]]

    async def stats(self) -> Stats:
        """Return counts, sizes, and what answers which user."""
        return from_json(Stats, await self._asking.get("/v1/stats"))

    async def doctor(self, *, repair: bool = False) -> Checkup:
        """Look for drift between the ledger, the caches and the index; mend it if asked."""
        return from_json(Checkup, await self._asking.call("POST", "/v1/doctor", repair=repair))

    async def reindex(self, *, embed: bool = False) -> Reindexed:
        """Build every index anew from the ledger; with `embed`, make every vector anew too."""
        return from_json(Reindexed, await self._asking.call("POST", "/v1/reindex", embed=embed))

    async def jobs(self, *, status: str | None = None, limit: int = 100) -> list[JobInfo]:
        """Return the messages that are still to be learned from; those that failed for good with status `dead`."""
        answer = await self._asking.get("/v1/jobs", status=status, limit=limit)
        return [from_json(JobInfo, item) for item in answer["items"]]

    async def replay(self, jobs: Iterable[str] | None = None) -> int:
        """Try again what failed for good: these jobs, or all. Returns how many."""
        answer = await self._asking.call("POST", "/v1/jobs/replay", jobs=None if jobs is None else list(jobs))
        return int(answer["replayed"])

    async def relearn(self, *, user: str | None = None, apply: bool = False) -> Relearned:
        """Learn everything anew from what a user has said. Shows what that changes; `apply` writes it."""
        return from_json(Relearned, await self._asking.call("POST", "/v1/relearn", user=user, apply=apply))

    async def settle(self, added: Added) -> Added:
        """Wait until what was added is learned from. What was learned is in the facts, not in what this returns."""
        waiting = set(added.jobs)
        while waiting:
            waiting &= {job.id for job in await self.jobs(limit=10_000) if job.status != "dead"}
            if waiting:
                await asyncio.sleep(POLL)
        return replace(added, pending=0)

    async def work(self) -> None:
        """The service learns from what waits by itself."""
        raise NotBuiltYet("work over HTTP")
