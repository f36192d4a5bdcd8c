"""Brings a vector index up to date with the ledger: reads what has changed, tells the index, notes how far it got.

It may be stopped or killed at any point: what is not noted is done again, and doing it twice changes nothing. Any
number of processes may do it at once, and none brings back what was forgotten: vectors are read for one very collection
and given to no other, and a forget removes them from the ledger first and the collections after it (decision 0017).
"""

import asyncio
import contextlib
import logging
import re
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from types import MappingProxyType
from typing import NamedTuple, Protocol

import numpy as np

from commonplace.domain.errors import IndexUnavailable
from commonplace.domain.scope import Scope
from commonplace.ports.index import VectorIndex
from commonplace.ports.ledger import Feed, IndexFeed, Vector
from commonplace.stopping import stop

LOG = logging.getLogger(__name__)

BATCH = 256
"""Rows read from the ledger and given to the index at once."""


class Source(IndexFeed, Protocol):
    @property
    def name(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Delivery:
    """What a feed means for the index."""

    vectors: dict[int, Vector]
    removed: Sequence[int]


@dataclass(frozen=True, slots=True)
class Plan:
    """What the index is to be told, in batches. Rows that turn out to have no vector are left out on the way."""

    upserts: Sequence[Sequence[int]]
    removals: Sequence[Sequence[int]]


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a failing index is tried again: after a pause that doubles each time, up to a longest one."""

    attempts: int = 8
    first_pause: float = 0.2
    longest_pause: float = 30.0

    def pause(self, failed: int) -> float:
        return min(self.first_pause * 2.0 ** (failed - 1), self.longest_pause)


PATIENCE = Patience()


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why a user's rows have not reached the index. The ledger has them, and exact search finds them."""

    error: str
    at: datetime
    attempts: int
    given_up: bool
    """Nobody tries again until the user's rows are asked for, or change."""


def collection_name(ledger: str, partition: int, generation: int = 0) -> str:
    """Vectors of two models never share a collection: each generation has its own."""
    return f"cp-{ledger[:32]}-{partition}" + (f"-g{generation}" if generation else "")


def collection_names(ledger: str, partition: int, *, until: int) -> list[str]:
    """Return the names of a partition's collections, of every generation."""
    return [collection_name(ledger, partition, generation) for generation in range(until + 1)]


def partition_of(ledger: str, collection: str) -> int | None:
    """Return the number of the partition that a collection is of; None: it is not of this ledger."""
    of = re.fullmatch(rf"cp-{re.escape(ledger[:32])}-(\d+)(-g\d+)?", collection)
    return None if of is None else int(of[1])


def numbers_of(feed: Feed) -> frozenset[int]:
    return frozenset([*(row.n for row in feed.messages), *(row.n for row in feed.facts)])


def without_vector(feed: Feed) -> list[int]:
    """Return the rows of a feed with vectors that have none."""
    messages = (row.n for row in feed.messages if row.vector is None)
    return sorted([*messages, *(row.n for row in feed.facts if row.vector is None)])


def wanted(feed: Feed) -> frozenset[int]:
    """Return the rows that belong in the index: messages, and versions of facts that are still believed."""
    believed = (row.n for row in feed.facts if row.retracted_at is None)
    return frozenset([*(row.n for row in feed.messages), *believed]).difference(feed.removed)


def unwanted(feed: Feed) -> frozenset[int]:
    return frozenset([*feed.removed, *(row.n for row in feed.facts if row.retracted_at is not None)])


def delivery(feed: Feed) -> Delivery:
    """Read what belongs in the index, and what no longer does, out of a feed with vectors."""
    rows = {row.n: row.vector for row in feed.messages} | {row.n: row.vector for row in feed.facts}
    vectors = {n: np.frombuffer(blob, np.float32) for n in wanted(feed) if (blob := rows[n]) is not None}
    return Delivery(vectors, sorted(unwanted(feed)))


def plan(feed: Feed, *, held: Collection[int] | None = None, batch: int = BATCH) -> Plan:
    """Decide what the index has to be told.

    `held` goes with a feed from the beginning: the numbers that the index has already, from a delivery that was broken
    off. Then only the difference is told, for a row's vector never changes under its number.
    """
    upserts, removals = wanted(feed), unwanted(feed)
    if held is not None:
        upserts, removals = upserts.difference(held), frozenset(held) - upserts
    return Plan(_batches(sorted(upserts), batch), _batches(sorted(removals), batch))


def _batches(numbers: Sequence[int], size: int) -> Sequence[Sequence[int]]:
    return [numbers[start : start + size] for start in range(0, len(numbers), size)]


async def deliver(ledger: Source, index: VectorIndex, scope: Scope, *, batch: int = BATCH) -> None:
    """Give the index everything that it has not been given yet. Raises IndexUnavailable, LedgerUnavailable."""
    versions = await ledger.versions(scope)
    if not versions.number:
        return
    collection = collection_name(ledger.name, versions.number, versions.generation)
    identity = await index.identity(collection)
    since = await ledger.delivered(scope, identity)
    if since >= versions.version:
        return
    # Before the feed: what another process delivers between the two would be taken for rows that are no more.
    held = None if since else await index.numbers(collection)
    # Without vectors: those of a large partition are read a batch at a time, or they would all be in memory at once.
    feed = await ledger.feed(scope, since=since, vectors=False)
    await _tell(ledger, index, scope, _Target(collection, identity), plan(feed, held=held, batch=batch))
    if await index.identity(collection) != identity:
        raise IndexUnavailable(f"the collection {collection} was replaced while it was fed")
    if (await ledger.versions(scope)).generation != versions.generation:
        await index.drop(collection)  # it may have been given vectors of two models
        raise IndexUnavailable(f"the vectors are of another model by now than the collection {collection}")
    await ledger.set_delivered(scope, identity, feed.versions.version)
    for outlived in () if since else collection_names(ledger.name, versions.number, until=versions.generation - 1):
        await index.drop(outlived)


class _Target(NamedTuple):
    collection: str
    identity: str


async def _tell(ledger: Source, index: VectorIndex, scope: Scope, to: _Target, todo: Plan) -> None:
    for numbers in todo.upserts:
        blobs = await ledger.vectors(scope, numbers)
        vectors = {n: np.frombuffer(blob, np.float32) for n, blob in blobs.items()}
        await index.upsert(to.collection, vectors, identity=to.identity)
    for numbers in todo.removals:
        await index.remove(to.collection, numbers)


class Projector:
    """Delivers in the background, one user after the other."""

    def __init__(
        self,
        ledger: Source,
        index: VectorIndex,
        *,
        batch: int = BATCH,
        patience: Patience = PATIENCE,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._ledger, self._index, self._batch = ledger, index, batch
        self._patience, self._now = patience, now
        self._due: dict[Scope, float] = {}
        self._failures: dict[Scope, Failure] = {}
        self._wake, self._turn = asyncio.Event(), asyncio.Lock()
        self._task: asyncio.Task[None] | None = None

    @property
    def failures(self) -> Mapping[Scope, Failure]:
        """Who is not up to date in the index because it failed. Empty when all is well."""
        return MappingProxyType(self._failures)

    def start(self) -> None:
        self._task = asyncio.get_running_loop().create_task(self.run(), name="commonplace-projector")

    async def aclose(self) -> None:
        """Stop, at the next batch. Whoever has the memory open next carries on from there."""
        if self._task is not None:
            task, self._task = self._task, None
            await stop(task)

    def notify(self, scope: Scope) -> None:
        """Say that a user's rows have changed, or are asked for. Returns at once."""
        failure = self._failures.get(scope)
        if failure is None or failure.given_up:
            self._due[scope] = 0.0
            self._wake.set()

    async def settle(self, scope: Scope) -> None:
        """Return when the index has all that the ledger holds now. Raises IndexUnavailable, after some patience."""
        failed = 0
        while True:
            try:
                return await self._deliver(scope)
            except IndexUnavailable:
                failed += 1
                if failed >= self._patience.attempts or not self._index.try_own():
                    raise
            await asyncio.sleep(self._patience.pause(failed))

    @contextlib.asynccontextmanager
    async def paused(self) -> AsyncIterator[None]:
        """Deliver nothing meanwhile: what was read before a forget must not be delivered after it."""
        async with self._turn:
            yield

    async def run(self) -> None:
        """Deliver what is due, for ever. A failure is kept in `failures` and never ends it."""
        clock = asyncio.get_running_loop().time
        while True:
            scope = min(self._due, key=self._due.__getitem__, default=None)
            if scope is None or self._due[scope] > clock():
                await self._sleep(None if scope is None else self._due[scope] - clock())
                continue
            del self._due[scope]
            # Whoever owns the index feeds it with everybody's rows: this process need not.
            if self._index.try_own():
                await self._attempt(scope)

    async def _attempt(self, scope: Scope) -> None:
        try:
            await self._deliver(scope)
        except Exception as error:  # noqa: BLE001  a worker loop that records the failure
            attempts = 1
            if (before := self._failures.get(scope)) is not None and not before.given_up:
                attempts += before.attempts
            self._fail(scope, error, attempts=attempts)

    async def _deliver(self, scope: Scope) -> None:
        async with self._turn:
            await deliver(self._ledger, self._index, scope, batch=self._batch)
        self._failures.pop(scope, None)

    def _fail(self, scope: Scope, error: Exception, *, attempts: int) -> None:
        given_up = attempts >= self._patience.attempts
        self._failures[scope] = Failure(error=str(error), at=self._now(), attempts=attempts, given_up=given_up)
        LOG.warning("the index could not be fed (attempt %d): %s", attempts, type(error).__name__)
        if not given_up:
            self._due[scope] = asyncio.get_running_loop().time() + self._patience.pause(attempts)

    async def _sleep(self, seconds: float | None) -> None:
        self._wake.clear()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._wake.wait()
