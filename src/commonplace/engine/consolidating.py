"""consolidate: expires what is due, makes one of two, sums up what is over, and weighs anew. Twice is the same as once.

Each step is a transaction of its own that checks what it was decided on, so others may read and write meanwhile.
"""

from collections.abc import Sequence

from commonplace.domain.errors import Conflict
from commonplace.domain.progress import Progress, unseen
from commonplace.domain.results import Consolidated
from commonplace.domain.scope import Scope
from commonplace.domain.values import Fact, SessionId
from commonplace.engine.committing import Committing
from commonplace.engine.parts import Parts
from commonplace.engine.purging import Purging
from commonplace.engine.summarising import Summarising
from commonplace.learning.draft import Draft
from commonplace.learning.merge import duplicates, merged, reweighed

LEAST = 4
"""Messages that a session which is over must have for a summary to be worth it."""


class Consolidating:
    def __init__(self, parts: Parts, committing: Committing, summarising: Summarising, purging: Purging) -> None:
        self._parts, self._ledger = parts, parts.ledger
        self._committing, self._summarising, self._purging = committing, summarising, purging

    async def everyone(self, *, dry_run: bool = False, progress: Progress = unseen) -> Consolidated:
        """Do it for every user of this tenant, one after the other."""
        total = Consolidated(users=0, applied=not dry_run)
        scopes = await self._ledger.scopes(self._parts.options.tenant)
        for done, scope in enumerate(scopes):
            progress("Consolidating", done, len(scopes))
            total += await self.consolidate(scope, dry_run=dry_run)
        progress("Consolidating", len(scopes), len(scopes))
        return total

    async def consolidate(self, scope: Scope, *, dry_run: bool = False, progress: Progress = unseen) -> Consolidated:
        """Do it for one user. A dry run counts what would be done, and changes nothing."""
        steps = ("Expiring", "Merging", "Weighing", "Summarising")
        progress(steps[0], 0, len(steps))
        purged = await self._purging.purge(only=scope, dry_run=dry_run)
        expired = sum(
            receipt.counts["ledger"].get(what, 0) for receipt in purged.receipts for what in ("messages", "facts")
        )
        progress(steps[1], 1, len(steps))
        twice = await self._merge(scope, dry_run=dry_run)
        progress(steps[2], 2, len(steps))
        weighed = await self._weigh(scope, dry_run=dry_run)
        progress(steps[3], 3, len(steps))
        summed = await self._sum_up(scope, dry_run=dry_run, progress=progress)
        return Consolidated(
            expired=expired, merged=twice, reweighed=weighed, summarised=summed, users=1, applied=not dry_run
        )

    async def _merge(self, scope: Scope, *, dry_run: bool) -> int:
        groups = duplicates(await self._ledger.believed(scope))
        if groups and not dry_run:

            async def decide() -> Sequence[Draft]:
                found = duplicates(await self._ledger.believed(scope))
                return [await self._merged(scope, group) for group in found]

            await self._committing.commit(scope, decide)
        return sum(len(group) - 1 for group in groups)

    async def _merged(self, scope: Scope, group: Sequence[Fact]) -> Draft:
        sources = {fact.id: await self._ledger.sources(scope, fact.id) for fact in group}
        return merged(group, sources, now=self._parts.now())

    async def _weigh(self, scope: Scope, *, dry_run: bool) -> int:
        behind = reweighed(await self._ledger.believed(scope))
        if behind and not dry_run:

            async def decide() -> Sequence[Draft]:
                return [Draft(reinforced=tuple(reweighed(await self._ledger.believed(scope))))]

            await self._committing.commit(scope, decide)
        return len(behind)

    async def _sum_up(self, scope: Scope, *, dry_run: bool, progress: Progress) -> int:
        """Sum up sessions that are over, to their end. Returns how many stretches were summed up or queued."""
        if not self._parts.options.summarise_after:
            return 0
        left = [one for one in await self._ledger.unsummarised(scope) if one.messages >= LEAST]
        over = [one.session for one in left if await self._is_over(scope, one.session)]
        if dry_run:
            return sum([await self._summarising.waiting(scope, session) for session in over])
        done = 0
        for number, session in enumerate(over):
            progress("Summarising", number, len(over))
            done += await self._finish(scope, session)
        return done

    async def _finish(self, scope: Scope, session: SessionId) -> int:
        done = 0
        try:
            while more := await self._summarising.catch_up(scope, session, after=0):
                done += more
        except Conflict:
            # Somebody sums it up or forgets some of it just now: the next time finds what is left.
            return done
        return done

    async def _is_over(self, scope: Scope, session: SessionId) -> bool:
        info = await self._ledger.session_info(scope, session)
        return info is None or info.ended_at is not None or info.expires_at <= self._parts.now()
