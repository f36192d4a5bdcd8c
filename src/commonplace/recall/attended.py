"""A vector index whose silence costs little: exact search answers anyway, so nobody should wait for it for long.

Once a server did not answer in time, whoever waits for it stops, and it is left alone for a moment; then one call finds
out for all of them whether it is back. A refused connection costs nothing, so it is asked again at once.
"""

import asyncio
import contextlib
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, Self, TypeVar

from commonplace.domain.errors import IndexUnavailable
from commonplace.ports.index import Near, VectorIndex
from commonplace.ports.ledger import Vector
from commonplace.stopping import stop

T = TypeVar("T")
Call = Callable[[], Coroutine[Any, Any, T]]

ANSWERS_WITHIN = 5.0
"""Seconds for a search. It has none until it has answered for the first time, for opening it may take longer."""
SLOW = 0.5
"""Seconds after which a failure is one that others should not wait for, too."""
SHORTEST_REST, LONGEST_REST = 0.25, 5.0
"""Seconds that it is left alone; doubled each time."""


class Attended:
    """Passes for the index it is given. `server`: it is one that can be away, and not a folder of this machine."""

    def __init__(self, index: VectorIndex, *, server: bool, within: float = ANSWERS_WITHIN, slow: float = SLOW) -> None:
        self._index, self._server, self._within, self._slow = index, server, within, slow
        self._silent = asyncio.Event()
        """Set from a failure that took its time until the next answer."""
        self._rest, self._rests_until, self._trying = SHORTEST_REST, 0.0, False
        self._answers = self._failures = self._skipped = 0
        self._under_way = set[asyncio.Task[Any]]()
        self.problem: str | None = None
        """What went wrong when it was last asked; None when it answered, or was not asked."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        """Let no call outlive it that was given up. Whoever opened the index closes it."""
        await stop(*self._under_way)

    @property
    def name(self) -> str:
        return self._index.name

    @property
    def owned(self) -> bool:
        return self._index.owned

    def try_own(self) -> bool:
        return self._index.try_own()

    def figures(self) -> Mapping[str, int]:
        return {
            "up": int(self.problem is None),
            "answers": self._answers,
            "failures": self._failures,
            "skipped": self._skipped,
        }

    async def look(self) -> Mapping[str, int]:
        return await self._counted(self._index.collections) if self._server else {}

    async def state(self) -> str:
        if self.problem is not None and self._server:
            with contextlib.suppress(IndexUnavailable, TimeoutError):
                async with asyncio.timeout(self._slow):
                    await self._ask(self._index.collections)
        return "ok" if self.problem is None else "IndexUnavailable: exact search answers"

    async def identity(self, collection: str) -> str:
        return await self._ask(lambda: self._index.identity(collection), bounded=True)

    async def upsert(self, collection: str, vectors: Mapping[int, Vector], *, identity: str | None = None) -> None:
        await self._ask(lambda: self._index.upsert(collection, vectors, identity=identity))

    async def remove(self, collection: str, numbers: Sequence[int]) -> None:
        await self._ask(lambda: self._index.remove(collection, numbers))

    async def search(
        self, collection: str, vector: Vector, *, limit: int, identity: str | None = None
    ) -> Sequence[Near]:
        return await self._ask(
            lambda: self._index.search(collection, vector, limit=limit, identity=identity), bounded=True
        )

    async def numbers(self, collection: str) -> frozenset[int]:
        return await self._ask(lambda: self._index.numbers(collection))

    async def collections(self) -> Mapping[str, int]:
        return await self._ask(self._index.collections)

    async def drop(self, collection: str) -> None:
        """What is to be removed is not put off: whoever asks for it is told whether it is gone."""
        await self._counted(lambda: self._index.drop(collection))

    async def erase(self, *collections: str) -> int:
        return await self._counted(lambda: self._index.erase(*collections))

    async def close(self) -> None:
        await self._index.close()

    async def _ask(self, call: Call[T], *, bounded: bool = False) -> T:
        if not self._server:
            return await self._counted(call)
        within = self._within if bounded and self._answers else None
        if self._silent.is_set():
            return await self._find_out(lambda: self._bounded(call, within))
        return await self._unless_silent(lambda: self._counted(lambda: self._bounded(call, within)))

    async def _find_out(self, call: Call[T]) -> T:
        """Ask for everybody whether it is back. Raises at once while somebody else does, or it is left alone."""
        if self._trying or time.monotonic() < self._rests_until:
            raise self._spared()
        self._trying = True
        try:
            return await self._counted(call)
        finally:
            self._trying = False

    async def _unless_silent(self, call: Call[T]) -> T:
        """Stop waiting when another call finds that it does not answer."""
        asking, silence = asyncio.create_task(call()), asyncio.create_task(self._silent.wait())
        asking.add_done_callback(_heard)
        try:
            await asyncio.wait({asking, silence}, return_when=asyncio.FIRST_COMPLETED)
            if not asking.done():
                raise self._spared()
            return asking.result()
        finally:
            asking.cancel()
            silence.cancel()

    async def _bounded(self, call: Call[T], within: float | None) -> T:
        """Wait for an answer for so long. A call that is given up may take as long again to end: some drivers tell the
        server first, and that is silent.
        """
        asking = asyncio.create_task(call())
        self._under_way.add(asking)
        asking.add_done_callback(self._under_way.discard)
        asking.add_done_callback(_heard)
        try:
            await asyncio.wait({asking}, timeout=within)
            if not asking.done():
                raise IndexUnavailable(f"{self.name}: no answer within {within:g} s")
            return asking.result()
        finally:
            asking.cancel()

    async def _counted(self, call: Call[T]) -> T:
        began = time.monotonic()
        try:
            answer = await call()
        except IndexUnavailable as error:
            self._failed(error, time.monotonic() - began)
            raise
        self._answers += 1
        self.problem, self._rest = None, SHORTEST_REST
        self._silent.clear()
        return answer

    def _failed(self, error: IndexUnavailable, seconds: float) -> None:
        self._failures += 1
        self.problem = str(error)
        if self._server and (seconds >= self._slow or self._silent.is_set()):
            self._rests_until = time.monotonic() + self._rest
            self._rest = min(self._rest * 2, LONGEST_REST)
            self._silent.set()

    def _spared(self) -> IndexUnavailable:
        self._skipped += 1
        return IndexUnavailable(f"left alone for a moment, because of this: {self.problem}")


def _heard(asking: "asyncio.Task[Any]") -> None:
    """Whoever asked has left: what it says now is nobody's error."""
    if not asking.cancelled():
        asking.exception()
