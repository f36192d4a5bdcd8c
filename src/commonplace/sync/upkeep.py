"""The methods that say what there is, whether the parts agree, and what waits to be learned."""

from collections.abc import Iterable

from commonplace.domain.results import Checkup, JobInfo, Reindexed, Relearned, Stats
from commonplace.memory import AsyncMemory
from commonplace.sync.loop import Loop


class Upkeep:
    _loop: Loop
    _memory: AsyncMemory

    def stats(self) -> Stats:
        """Return counts, sizes, and what answers which user."""
        return self._loop.call(self._memory.stats())

    def doctor(self, *, repair: bool = False) -> Checkup:
        """Look for drift between the ledger, the caches and the index; mend it if asked."""
        return self._loop.call(self._memory.doctor(repair=repair))

    def reindex(self, *, embed: bool = False, users: Iterable[str | None] | None = None) -> Reindexed:
        """Build every index anew from the ledger, or these users'; with `embed`, make every vector anew too."""
        return self._loop.call(self._memory.reindex(embed=embed, users=users))

    def jobs(self, *, status: str | None = None, limit: int = 100) -> list[JobInfo]:
        """Return the messages that are still to be learned from; those that failed for good with status `dead`."""
        return self._loop.call(self._memory.jobs(status=status, limit=limit))

    def replay(self, jobs: Iterable[str] | None = None) -> int:
        """Try again what failed for good: these jobs, or all. Returns how many."""
        return self._loop.call(self._memory.replay(jobs))

    def work(self) -> None:
        """Learn from what waits, also in other processes' name, until it is interrupted."""
        self._loop.call(self._memory.work())

    def relearn(self, *, user: str | None = None, apply: bool = False) -> Relearned:
        """Learn everything anew from what a user has said. Shows what that changes; `apply` writes it."""
        return self._loop.call(self._memory.relearn(user=user, apply=apply))
