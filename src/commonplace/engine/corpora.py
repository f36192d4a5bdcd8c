"""The users' rows in RAM, the latest used first, each checked against the ledger's version before every use.

That check is what makes another process's writes visible; what has changed is read and applied, never the whole again.
"""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from commonplace.domain.scope import Scope
from commonplace.ports.ledger import Feed, IndexFeed, Versions
from commonplace.recall.corpus import Corpus

SMALL_FEED = 64
"""Rows that are taken in on the event loop; more go to a thread, so that nobody else waits."""


@dataclass(slots=True)
class _Held:
    corpus: Corpus | None = None
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    users: int = 0
    nbytes: int = 0


class Corpora:
    def __init__(self, ledger: IndexFeed, *, budget: int, make: Callable[[Versions], Corpus]) -> None:
        """`make` returns an empty corpus that suits a partition; whether it holds vectors is for the planner to say."""
        self._ledger, self._budget, self._make = ledger, budget, make
        self._held: OrderedDict[Scope, _Held] = OrderedDict()
        self.nbytes = 0
        self.loads = 0
        self.hits = 0

    @asynccontextmanager
    async def at_hand(self, scope: Scope) -> AsyncIterator[Corpus]:
        """Yield the user's rows, up to date with the ledger and for this caller alone until it is done."""
        held = self._held.setdefault(scope, _Held())
        self._held.move_to_end(scope)
        held.users += 1
        try:
            async with held.lock:
                await self._bring_up_to_date(scope, held)
                assert held.corpus is not None
                yield held.corpus
        finally:
            held.users -= 1
            self._evict()

    def __len__(self) -> int:
        return len(self._held)

    def clear(self) -> None:
        """Let go of everything that nobody is using just now; the next use reads it anew from the ledger."""
        for scope in [scope for scope, held in self._held.items() if not held.users]:
            self._let_go(scope)

    async def drop(self, scope: Scope) -> None:
        """Let go of one user's rows, once whoever is using them is done."""
        held = self._held.get(scope)
        if held is not None:
            async with held.lock:
                self.nbytes -= held.nbytes
                held.corpus, held.nbytes = None, 0

    async def _bring_up_to_date(self, scope: Scope, held: _Held) -> None:
        versions = await self._ledger.versions(scope)
        corpus = held.corpus
        if corpus is not None and corpus.version == versions.version:
            self.hits += 1
            return
        if corpus is None or _worn(corpus) or corpus.version > versions.version:
            corpus = self._make(versions)
        feed = await self._ledger.feed(scope, since=corpus.version)
        if _size(feed) <= SMALL_FEED:
            corpus.apply(feed)
        else:
            self.loads += 1
            await asyncio.to_thread(corpus.apply, feed)
        held.corpus = corpus
        self.nbytes += corpus.nbytes - held.nbytes
        held.nbytes = corpus.nbytes

    def _evict(self) -> None:
        if self.nbytes <= self._budget:
            return
        for scope in [scope for scope, held in self._held.items() if not held.users]:
            self._let_go(scope)
            if self.nbytes <= self._budget:
                return

    def _let_go(self, scope: Scope) -> None:
        self.nbytes -= self._held.pop(scope).nbytes


def _worn(corpus: Corpus) -> bool:
    """A row that is fed again leaves a dead slot behind; past this it is cheaper to start afresh."""
    return len(corpus.ids) > 2 * len(corpus) + 1_000


def _size(feed: Feed) -> int:
    return len(feed.messages) + len(feed.facts) + len(feed.removed)
