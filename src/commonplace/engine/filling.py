"""Vectors of facts, filled in just after they are written: `add` waits for one embedding, not for one more per fact.

Nobody sees the difference: a search of that user fills first, and a row that a crash left without a vector is found by
its words until it is filled.
"""

import asyncio
import contextlib
from collections.abc import Callable
from weakref import WeakValueDictionary

from commonplace.domain.errors import CommonplaceError
from commonplace.domain.scope import Scope
from commonplace.engine.choosing import Choosing
from commonplace.engine.indexing import Indexing
from commonplace.engine.parts import Parts
from commonplace.recall.late import packed
from commonplace.recall.projector import without_vector
from commonplace.stopping import stop

IDLE = 0.05
"""Seconds without a write after which the waiting rows are filled, many in one batch."""


class Filling:
    def __init__(
        self, parts: Parts, indexing: Indexing, choosing: Choosing, *, filled: Callable[[Scope], None]
    ) -> None:
        """`filled` is told of every user whose rows have changed."""
        self._parts, self._ledger = parts, parts.ledger
        self._indexing, self._choosing, self._filled = indexing, choosing, filled
        self._waiting: dict[Scope, int] = {}
        self._locks: WeakValueDictionary[Scope, asyncio.Lock] = WeakValueDictionary()
        self._task: asyncio.Task[None] | None = None
        self._last_write = 0.0

    def written(self, scope: Scope, *, since: int) -> None:
        """Rows without vectors were written after version `since`."""
        self._waiting.setdefault(scope, since)
        loop = asyncio.get_running_loop()
        self._last_write = loop.time()
        if self._task is None or self._task.done():
            self._task = loop.create_task(self._when_idle(), name="commonplace-vectors")

    async def fill(self, scope: Scope) -> None:
        """Make the vectors that were not written because another model had come, before the write is acknowledged."""
        self.written(scope, since=0)
        with contextlib.suppress(CommonplaceError):  # what cannot be filled now is found by its words, and by `doctor`
            await self.settle(scope)

    async def settle(self, scope: Scope) -> None:
        """Fill what waits of this user, now."""
        if scope not in self._waiting and scope not in self._locks:
            return
        lock = self._locks.setdefault(scope, asyncio.Lock())
        async with lock:
            since = self._waiting.pop(scope, None)
            if since is not None:
                try:
                    await self._fill(scope, since)
                except asyncio.CancelledError:  # by `aclose`, which fills what waits
                    self._waiting[scope] = min(since, self._waiting.get(scope, since))
                    raise

    async def settle_all(self) -> None:
        for scope in {*self._waiting, *self._locks}:  # also what is being filled just now
            await self.settle(scope)

    async def aclose(self) -> None:
        if self._task is not None:
            await stop(self._task)
        for scope in list(self._waiting):
            # What cannot be filled now is found by its words, and by `doctor`.
            with contextlib.suppress(CommonplaceError):
                await self.settle(scope)

    async def _when_idle(self) -> None:
        loop = asyncio.get_running_loop()
        while self._waiting:
            while (rest := self._last_write + IDLE - loop.time()) > 0:  # noqa: ASYNC110 - each write moves the end
                await asyncio.sleep(rest)
            for scope in list(self._waiting):
                with contextlib.suppress(CommonplaceError):
                    await self.settle(scope)

    async def _fill(self, scope: Scope, since: int) -> None:
        if self._parts.outdated:
            await self._parts.follow()
        feed = await self._ledger.feed(scope, since=since)
        missing = frozenset(without_vector(feed))
        texts = await self._indexing.texts_of(self._ledger, scope, feed, missing)
        if not texts:
            return
        senses, note = await self._choosing.of(scope).embed(list(texts.values()))
        if note is not None:
            return
        made = {n: sense for n, sense in zip(texts, senses, strict=True) if sense is not None}
        await self._ledger.set_vectors(
            scope,
            {n: sense.vector for n, sense in made.items()},
            tokens={n: packed(sense.tokens) for n, sense in made.items() if sense.tokens},
            model=next(iter(made.values())).model,
        )
        self._filled(scope)
