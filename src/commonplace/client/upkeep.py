"""The methods of AsyncClient that look after indexes and the queue."""

import asyncio
from collections.abc import Iterable
from dataclasses import replace

from commonplace.client.asking import Asking, NotOverHTTP
from commonplace.domain.embeddings import Embeddings, Migrated
from commonplace.domain.plain import from_json
from commonplace.domain.progress import Progress, unseen
from commonplace.domain.results import Added, Checkup, JobInfo, Reindexed, Relearned, Stats
from commonplace.engine.migrating import LEAST_OVERLAP

POLL = 0.5


class RemoteUpkeep:
    _asking: Asking

    async def stats(self) -> Stats:
        """Return counts, sizes, and what answers which user."""
        return from_json(Stats, await self._asking.get("/v1/stats"))

    async def doctor(self, *, repair: bool = False) -> Checkup:
        """Look for drift between the ledger, the caches and the index; mend it if asked."""
        return from_json(Checkup, await self._asking.call("POST", "/v1/doctor", repair=repair))

    async def reindex(self, *, embed: bool = False, users: Iterable[str | None] | None = None) -> Reindexed:
        """Build every index anew from the ledger, or these users'; with `embed`, make every vector anew too."""
        whose = None if users is None else list(users)
        return from_json(Reindexed, await self._asking.call("POST", "/v1/reindex", embed=embed, users=whose))

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
        raise NotOverHTTP("work: the service learns from what waits by itself")

    async def migrate_embeddings(
        self,
        *,
        to: object,
        switch: bool = True,
        least_overlap: float = LEAST_OVERLAP,
        progress: Progress = unseen,
    ) -> Migrated:
        """Change the embedding model: done where the memory is, since it takes as long as making every vector."""
        raise NotOverHTTP("migrate_embeddings: run `commonplace migrate-embeddings` where the memory is")

    async def roll_back_embeddings(self, *, progress: Progress = unseen) -> Migrated:
        """Go back to the embedding model before: done where the memory is."""
        raise NotOverHTTP("roll_back_embeddings: run `commonplace migrate-embeddings --roll-back` where the memory is")

    async def discard_embeddings(self, *, progress: Progress = unseen) -> int:
        """Remove the vectors that are not in use: done where the memory is."""
        raise NotOverHTTP("discard_embeddings: run `commonplace migrate-embeddings --discard` where the memory is")

    async def embeddings(self) -> Embeddings:
        """Say whose vectors are in use: `stats` names the model here, too."""
        raise NotOverHTTP("embeddings: run `commonplace migrate-embeddings` where the memory is")
