"""Brings the vector index up to date with the ledger: what changed since it was last fed, then a mark how far it has come.

Every step can be repeated, so a crash anywhere only means that some rows are given to the index twice.
"""

import asyncio
import contextlib
import logging
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from commonplace.domain.errors import Unavailable
from commonplace.domain.scope import Scope
from commonplace.ports.index import VectorIndex
from commonplace.ports.ledger import Feed, Ledger, Vector

LOG = logging.getLogger(__name__)
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 30.0
"""Seconds before what failed is tried again: doubled each time."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """What a feed means for the index."""

    vectors: dict[int, Vector]
    removed: Sequence[int]


def collection_name(ledger: str, partition: int) -> str:
    return f"cp-{ledger[:32]}-{partition}"


def numbers_of(feed: Feed) -> frozenset[int]:
    return frozenset([*(row.n for row in feed.messages), *(row.n for row in feed.facts)])


def delivery(feed: Feed) -> Delivery:
    """Messages and believed facts that have a vector belong in the index; versions of facts that are past do not."""
    held: dict[int, bytes] = {row.n: row.vector for row in feed.messages if row.vector is not None}
    held |= {row.n: row.vector for row in feed.facts if row.vector is not None and row.retracted_at is None}
    vectors = {n: np.frombuffer(vector, np.float32) for n, vector in held.items()}
    return Delivery(vectors, sorted({*feed.removed, *(row.n for row in feed.facts if row.retracted_at is not None)}))


async def project(ledger: Ledger, index: VectorIndex, scope: Scope) -> None:
    """Deliver everything that the index has not been given yet. Raises IndexUnavailable."""
    while True:
        collection = collection_name(ledger.name, (await ledger.versions(scope)).number)
        identity = await index.identity(collection)
        delivered = await ledger.delivered(scope, identity)
        feed = await ledger.feed(scope, since=delivered)
        if feed.versions.version <= delivered:
            return
        due = delivery(feed)
        await index.upsert(collection, due.vectors)
        await index.remove(collection, due.removed)
        await ledger.set_delivered(scope, identity, feed.versions.version)


class Projector:
    """Delivers in the background, one user after the other. A failure is kept in `failures` and tried again."""

    def __init__(self, ledger: Ledger, index: VectorIndex) -> None:
        self._ledger, self._index = ledger, index
        self._due: dict[Scope, None] = {}
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self.failures: dict[Scope, str] = {}

    def start(self) -> None:
        self._task = asyncio.get_running_loop().create_task(self._run(), name="commonplace-projector")

    def notify(self, scope: Scope) -> None:
        """Say that a user's rows have changed. Returns at once."""
        self._due[scope] = None
        self._wake.set()

    async def settle(self, scope: Scope) -> None:
        """Deliver what is due for a user now, and return when it is done. Raises IndexUnavailable."""
        await project(self._ledger, self._index, scope)
        self.failures.pop(scope, None)

    async def aclose(self) -> None:
        """Stop after the step under way; what is left is delivered by whoever opens the ledger next."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
            self._task = None

    async def _run(self) -> None:
        pause = FIRST_PAUSE
        while True:
            await self._wake.wait()
            self._wake.clear()
            while self._due:
                scope = next(iter(self._due))
                del self._due[scope]
                try:
                    await self.settle(scope)
                    pause = FIRST_PAUSE
                except Unavailable as error:
                    self.failures[scope] = str(error)
                    LOG.warning("the index could not be fed, trying again in %.1f s: %s", pause, type(error).__name__)
                    self.notify(scope)
                    await asyncio.sleep(pause)
                    pause = min(2 * pause, LONGEST_PAUSE)
