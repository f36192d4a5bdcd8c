"""Read, decide, write, and again if somebody else was faster: how facts change without a lock in the database."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from weakref import WeakValueDictionary

from commonplace.domain.errors import Conflict, Overtaken
from commonplace.domain.scope import Scope
from commonplace.engine.choosing import Choosing
from commonplace.engine.filling import Filling
from commonplace.engine.indexing import Indexing
from commonplace.engine.parts import Parts
from commonplace.learning.draft import Draft
from commonplace.ports.ledger import Change

ATTEMPTS = 50
"""Decisions that another process's write has made stale are taken again, so many times at the most."""

Decide = Callable[[], Awaitable[Sequence[Draft]]]


class Committing:
    def __init__(
        self,
        parts: Parts,
        choosing: Choosing,
        indexing: Indexing,
        filling: Filling,
        *,
        written: Callable[[Scope], None],
    ) -> None:
        """`written` is told of every user whose rows have changed."""
        self._parts, self._ledger, self._choosing = parts, parts.ledger, choosing
        self._indexing, self._filling, self._written = indexing, filling, written
        self._locks: WeakValueDictionary[Scope, asyncio.Lock] = WeakValueDictionary()

    async def keep(self, scope: Scope, *changes: Change) -> None:
        """Write what rests on nothing read before. Raises EmbedderMismatch, as `commit` does."""
        await self._choosing.claim(scope)
        await self._ledger.write(scope, *changes)
        self._written(scope)
        if self._outdated(scope, changes):
            await self._filling.fill(scope)

    async def commit(self, scope: Scope, decide: Decide, *, also: Sequence[Change] = ()) -> Sequence[Draft]:
        """Write what is decided, in one transaction with `also`. `decide` reads the facts anew each time."""
        await self._choosing.claim(scope)
        async with self._lock(scope):
            for _ in range(ATTEMPTS):
                seen = await self._ledger.versions(scope)
                drafts = await decide()
                changes = [self._change(scope, draft) for draft in drafts]
                first, *others = (*also, *changes) or (Change(),)
                try:
                    await self._ledger.write(scope, replace(first, facts_seen=seen.fact_version), *others)
                except Overtaken:
                    raise
                except Conflict:
                    continue
                self._written(scope)
                if self._outdated(scope, (*also, *changes)):
                    await self._filling.fill(scope)
                elif any(new.entry.vector is None for change in changes for new in change.versions):
                    self._filling.written(scope, since=seen.version)
                return drafts
        raise Conflict(f"the facts of this user changed {ATTEMPTS} times while they were read: try again")

    def _outdated(self, scope: Scope, changes: Sequence[Change]) -> bool:
        """Say whether another model took the place of the one that made these vectors: then they were not written."""
        if self._parts.outdated:
            return True
        fitting = (None, self._parts.embedder_of(scope).identity)
        return any(entry.model not in fitting for change in changes for entry in change.entries)

    def _lock(self, scope: Scope) -> asyncio.Lock:
        """One user's decisions follow each other in this process; other processes are met by the ledger's check."""
        lock = self._locks.get(scope)
        if lock is None:
            lock = self._locks[scope] = asyncio.Lock()
        return lock

    def _change(self, scope: Scope, draft: Draft) -> Change:
        return Change(
            closed=draft.closed,
            versions=self._indexing.versions(draft.facts, scope=scope),
            reinforced=draft.reinforced,
            sources=draft.sources,
            history=draft.history,
        )
