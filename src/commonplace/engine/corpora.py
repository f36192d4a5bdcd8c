"""The users' rows in RAM, the latest used first, each checked against the ledger's version before every use.

That check is what makes another process's writes visible; what has changed is read and applied, never the whole again.
A user whose rows would not fit the budget is never held: a part of them is made for each use.
"""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

from commonplace.domain.scope import Scope
from commonplace.engine.following import Following
from commonplace.ports.feed import Feed, IndexFeed, Versions
from commonplace.recall.corpus import Corpus

SMALL_FEED = 64
"""Rows that are taken in on the event loop; more go to a thread, so that nobody else waits."""


class Part(NamedTuple):
    """The rows that a search looks at."""

    corpus: Corpus
    path: str | None = None
    """How they were chosen among the user's rows; None when they are all of them."""
    notes: Sequence[str] = ()


Make = Callable[[Scope, Versions], Corpus]
Fits = Callable[[Scope, Versions], bool]
Agreed = Callable[[Scope, Versions], Awaitable[Versions]]
Beyond = Callable[[Versions], Awaitable[Part]]
"""Chooses a part of a user's rows that holds the answer, where all of them would be too many."""


@dataclass(slots=True)
class _Held:
    corpus: Corpus | None = None
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    users: int = 0
    nbytes: int = 0


class Corpora:
    def __init__(
        self,
        ledger: IndexFeed,
        *,
        budget: int,
        make: Make,
        fits: Fits = lambda _, __: True,
        following: Following | None = None,
        agreed: Agreed | None = None,
    ) -> None:
        """`make` returns an empty corpus that suits a partition; whether it holds vectors is for the planner to say.

        `fits` says whether a partition may be in RAM as a whole. `following` is told when the ledger holds the vectors
        of another model. `agreed` refuses a user whose vectors are of another model than theirs.
        """
        self._following, self._agreed = following, agreed
        self._ledger, self._budget, self._make, self.fits = ledger, budget, make, fits
        self._held: OrderedDict[Scope, _Held] = OrderedDict()
        self._beyond = asyncio.Lock()
        self.nbytes = 0
        self.loads = 0
        self.hits = 0

    @asynccontextmanager
    async def at_hand(self, scope: Scope, beyond: Beyond) -> AsyncIterator[Part]:
        """Yield the user's rows, up to date with the ledger and for this caller alone until it is done."""
        held = self._held.setdefault(scope, _Held())
        self._held.move_to_end(scope)
        held.users += 1
        try:
            async with held.lock:
                versions = await self._versions(scope)
                if self.fits(scope, versions):
                    yield Part(await self._up_to_date(scope, held, versions))
                else:
                    self._count(held, None)
                    async with self._room():
                        yield await beyond(versions)
        finally:
            held.users -= 1
            if held.corpus is None and not held.users:
                self._let_go(scope)
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
                self._count(held, None)

    async def refresh(self, scope: Scope) -> None:
        """Bring one user's rows up to date, if they are held and nobody is using them just now."""
        held = self._held.get(scope)
        if held is None or held.corpus is None or held.users:
            return
        async with held.lock:
            versions = await self._ledger.versions(scope)
            same = held.corpus is not None and held.corpus.model == versions.model
            if same and self._held.get(scope) is held and self.fits(scope, versions):
                await self._up_to_date(scope, held, versions)

    async def _up_to_date(self, scope: Scope, held: _Held, versions: Versions) -> Corpus:
        corpus = held.corpus
        if corpus is not None and (corpus.generation != versions.generation or corpus.model != versions.model):
            corpus = None
        if corpus is not None and corpus.version == versions.version:
            self.hits += 1
            return corpus
        if corpus is None or _worn(corpus) or corpus.version > versions.version:
            corpus = self._make(scope, versions)
        feed = await self._ledger.feed(scope, since=corpus.version)
        if feed.versions.generation != corpus.generation or feed.versions.model != corpus.model:
            return await self._up_to_date(scope, held, await self._versions(scope))
        self.loads += _size(feed) > SMALL_FEED
        await take_in(corpus, feed)
        self._count(held, corpus)
        return corpus

    async def _versions(self, scope: Scope) -> Versions:
        """Return where the user's rows stand, once the embedder is that of their vectors."""
        versions = await self._ledger.versions(scope)
        while self._following is not None and versions.generation != self._following.generation:
            await self._following.follow()
            versions = await self._ledger.versions(scope)
        return versions if self._agreed is None else await self._agreed(scope, versions)

    def _count(self, held: _Held, corpus: Corpus | None) -> None:
        held.corpus = corpus
        nbytes = 0 if corpus is None else corpus.nbytes
        self.nbytes += nbytes - held.nbytes
        held.nbytes = nbytes

    @asynccontextmanager
    async def _room(self) -> AsyncIterator[None]:
        """Keep half of the budget free of what is cached, for the part of one large partition at a time."""
        async with self._beyond:
            self.nbytes += self._budget // 2
            self._evict()
            try:
                yield
            finally:
                self.nbytes -= self._budget // 2

    def _evict(self) -> None:
        if self.nbytes <= self._budget:
            return
        for scope in [scope for scope, held in self._held.items() if not held.users]:
            self._let_go(scope)
            if self.nbytes <= self._budget:
                return

    def _let_go(self, scope: Scope) -> None:
        self.nbytes -= self._held.pop(scope).nbytes


async def take_in(corpus: Corpus, feed: Feed) -> None:
    if _size(feed) <= SMALL_FEED:
        corpus.apply(feed)
    else:
        await asyncio.to_thread(corpus.apply, feed)


def _worn(corpus: Corpus) -> bool:
    """A row that is fed again leaves a dead slot behind; past this it is cheaper to start afresh."""
    return len(corpus.ids) > 2 * len(corpus) + 1_000


def _size(feed: Feed) -> int:
    return len(feed.messages) + len(feed.facts) + len(feed.removed)
