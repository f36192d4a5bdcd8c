"""Who answers the dense arm of a search, and whose rows the vector index is given: by size, after the exact filters."""

import asyncio
import contextlib
from collections.abc import Callable, Mapping, Sequence
from heapq import nlargest
from operator import itemgetter
from typing import NamedTuple, TypeVar

import numpy as np

from commonplace.domain.errors import IndexUnavailable, Overtaken
from commonplace.domain.scope import Scope
from commonplace.domain.times import FOREVER
from commonplace.engine.parts import Parts
from commonplace.ports.ledger import Vector, Versions
from commonplace.recall.corpus import Corpus, Mask
from commonplace.recall.plan import choose, holds_vectors, row_bytes, rows_within
from commonplace.recall.projector import (
    Projector,
    collection_name,
    collection_names,
    delivery,
    numbers_of,
    partition_of,
)
from commonplace.recall.slabs import slabs

T = TypeVar("T")

WANTED = 200
"""Rows asked of the index: twice what a search takes from its dense arm."""
FURTHEST = 4_096
"""When so many nearest rows hold too few that the filters let through, exact search is quicker than asking for more."""
SCANNED = 1_024
"""Vectors read at a time."""
LATE = 100
"""Writes that the index may be behind: what they wrote is looked at besides."""
SMALL = 2_000
"""Rows that are searched on the event loop, in less time than a thread would take to start."""


class Near(NamedTuple):
    """The dense arm's answer. `hits` is None when the corpus's own matrix is to answer."""

    hits: Mapping[int, float] | None
    path: str
    note: str | None = None


class Nearest(NamedTuple):
    """The rows nearest to a vector. `of` is None when every vector was read, else it names the index."""

    numbers: Sequence[int]
    of: str | None = None
    note: str | None = None


class Planner:
    def __init__(self, parts: Parts) -> None:
        self._ledger = parts.ledger
        self._every_index = [*([parts.index] if parts.index else []), *parts.former_indexes]
        self._index = parts.index if parts.options.index != "exact" else None
        self._exact_up_to = parts.options.exact_up_to if parts.options.index in ("auto", "exact") else 0
        self._budget = parts.options.cache_bytes
        self._parts, self._language = parts, parts.options.language
        self._weights = parts.weights
        self._projector = Projector(parts.ledger, self._index) if self._index else None
        self._projected: set[Scope] = set()

    def _dimensions(self, scope: Scope) -> int:
        return self._parts.embedder_of(scope).dimensions

    async def start(self) -> None:
        if self._projector:
            self._projector.start()

    async def aclose(self) -> None:
        if self._projector:
            await self._projector.aclose()

    @property
    def index_ready(self) -> bool:
        return self._index is not None and self._index.try_own()

    def corpus(self, scope: Scope, versions: Versions) -> Corpus:
        """Return an empty corpus for a partition of that size."""
        corpus = Corpus(
            dimensions=self._dimensions(scope),
            vectors=self._holds_vectors(versions),
            language=self._language,
            weights=self._weights,
        )
        corpus.generation, corpus.model = versions.generation, versions.model
        return corpus

    def fits(self, scope: Scope, versions: Versions) -> bool:
        """Say whether a partition may be in RAM as a whole."""
        dimensions = self._dimensions(scope)
        if versions.rows <= rows_within(self._budget, bytes_each=row_bytes(dimensions)):
            return True  # without asking who owns the index
        held = dimensions if self._holds_vectors(versions) else 0
        return versions.rows <= rows_within(self._budget, bytes_each=row_bytes(held))

    def _holds_vectors(self, versions: Versions) -> bool:
        return holds_vectors(rows=versions.rows, index_ready=self.index_ready, exact_up_to=self._exact_up_to)

    def written(self, scope: Scope) -> None:
        """A partition has changed: bring its collection up to date, if it has one or is to have one from the start."""
        if self._projector and (self._exact_up_to == 0 or scope in self._projected):
            self._projector.notify(scope)

    def answered_by(self, rows: int) -> str:
        return self._index.name if self._index and self._index.owned and rows > self._exact_up_to else "exact"

    async def waiting(self, scope: Scope, versions: Versions) -> int:
        """Return how many writes the index is not known to have been given; 0 where it is not to answer."""
        if self._index is None or not self._index.owned or versions.rows <= self._exact_up_to:
            return 0
        try:
            return versions.version - await self._delivered(scope, versions)
        except IndexUnavailable:
            return versions.version

    async def collections(self, asked: bool) -> Mapping[str, int]:
        """Return the index's own counts, if it is there and anybody asked; none if it does not answer."""
        if not asked or self._index is None or not self._index.owned:
            return {}
        try:
            return await self._index.collections()
        except IndexUnavailable:
            return {}

    def failure(self, scope: Scope) -> str | None:
        """Return why a user's rows could not be given to the index, if that is so now."""
        failure = self._projector.failures.get(scope) if self._projector else None
        return None if failure is None else failure.error

    async def drift(self, scope: Scope) -> int:
        """Return by how many rows the index differs from what it has been given. Raises IndexUnavailable."""
        if self._index is None:
            return 0
        versions = await self._ledger.versions(scope)
        if versions.rows <= self._exact_up_to:
            return 0
        delivered = await self._delivered(scope, versions)
        there = {n async for feed in slabs(self._ledger, scope) for n in delivery(feed).vectors}
        late = await self._ledger.feed(scope, since=delivered, vectors=False)
        held = await self._index.numbers(self._collection(versions))
        return len((held ^ there) - numbers_of(late))

    async def drop(self, scope: Scope) -> None:
        """Let go of a user's collection, as far as this process may: its vectors are of another model by now."""
        if self._index is not None and self._index.owned:
            await self._index.drop(self._collection(await self._ledger.versions(scope)))

    async def outlived(self, held: Mapping[str, int]) -> Sequence[str]:
        """Return which of these hold rows of users who have none: forgotten while another index was used."""
        following = self._parts.following
        numbers = {name: partition_of(self._ledger.name, name) for name, rows in held.items() if rows}
        if self._index is None or following is None or not any(numbers.values()):
            return ()
        living = {versions.number for versions in (await following.models.everyone()).values()}
        return [name for name, number in numbers.items() if number is not None and number not in living]

    async def remove(self, collections: Sequence[str]) -> None:
        """Remove collections, and look. Raises IndexUnavailable."""
        assert self._index is not None and self._projector is not None
        async with self._projector.paused():
            if left := await self._index.erase(*collections):
                raise IndexUnavailable(f"{self._index.name}: {left} rows are still there")

    async def rebuild(self, scope: Scope) -> int:
        """Build a user's collection anew, if it has one. Returns how many were built."""
        if self._index is None or self._projector is None or not self._index.owned:
            return 0
        versions = await self._ledger.versions(scope)
        if versions.rows <= self._exact_up_to:
            return 0
        await self._index.drop(self._collection(versions))
        await self._projector.settle(scope)
        return 1

    async def drop_outlived(self, scopes: Sequence[Scope]) -> None:
        """Remove the collections of earlier generations, as far as this process may."""
        if self._index is None or not self._index.owned:
            return
        for scope in scopes:
            versions = await self._ledger.versions(scope)
            for name in collection_names(self._ledger.name, versions.number, until=versions.generation - 1):
                await self._index.drop(name)

    async def erase(self, partitions: Mapping[Scope, int]) -> bool:
        """Leave no trace of users' rows in the index, and look. Returns whether there is an index at all.

        What they still hold is delivered again. Raises IndexUnavailable, also when another process owns the index.
        """
        if not self._every_index:
            return False
        collections = [
            name
            for scope, number in partitions.items()
            for name in collection_names(
                self._ledger.name, number, until=(await self._ledger.versions(scope)).generation
            )
        ]
        async with self._projector.paused() if self._projector else contextlib.nullcontext():
            for index in self._every_index:
                index.try_own()
                if left := await index.erase(*collections):
                    raise IndexUnavailable(f"{index.name}: {left} rows are still there")
        self._projected.difference_update(partitions)
        return True

    async def offload(self, rows: int, work: Callable[[], T]) -> T:
        """Run arithmetic here if it is quick, in a thread if others would have to wait for it."""
        return work() if rows <= SMALL else await asyncio.to_thread(work)

    async def near(self, scope: Scope, corpus: Corpus, vector: Vector | None, mask: Mask) -> Near:
        """Answer the dense arm for the rows that the filters let through."""
        if vector is None:
            return Near(None, "exact")
        match choose(
            candidates=int(np.count_nonzero(mask)),
            in_memory=corpus.dense is not None,
            index_ready=self.index_ready,
            exact_up_to=self._exact_up_to,
        ):
            case "memory":
                return Near(None, "exact")
            case "ledger":
                return Near(await self._exactly(scope, corpus, vector, mask), "exact")
            case "index":
                return await self._from_index(scope, corpus, vector, mask)

    async def nearest(self, scope: Scope, versions: Versions, vector: Vector | None, *, limit: int) -> Nearest:
        """Return the nearest of a user's rows, and those that the index has not been given yet, without a corpus."""
        if vector is None:
            return Nearest(())
        note = None
        if self.index_ready and versions.rows > self._exact_up_to:
            try:
                found = await self._nearest_in_index(scope, versions, vector, limit=limit)
            except IndexUnavailable as error:
                found, note = None, f"searched without the index: {error}"
            if found is not None:
                return found
        return Nearest(await self._scan(scope, vector, limit=limit), note=note)

    async def _nearest_in_index(
        self, scope: Scope, versions: Versions, vector: Vector, *, limit: int
    ) -> Nearest | None:
        """Return None while the index is far behind."""
        assert self._index is not None and self._projector is not None
        self._projected.add(scope)
        self._projector.notify(scope)
        collection = self._collection(versions)
        identity = await self._index.identity(collection)
        delivered = await self._ledger.delivered(scope, identity)
        if not delivered or versions.version - delivered > LATE:
            return None
        late = await self._ledger.feed(scope, since=delivered, vectors=False)
        found = await self._index.search(collection, vector, limit=limit, identity=identity)
        return Nearest([*(row.n for row in found), *numbers_of(late)], of=self._index.name)

    async def _scan(self, scope: Scope, vector: Vector, *, limit: int) -> Sequence[int]:
        """Read every vector, some at a time."""
        best: dict[int, float] = {}
        after = 0
        while rows := await self._ledger.vectors_after(scope, after=after, limit=SCANNED):
            best = dict(nlargest(limit, (best | _scored(rows, vector)).items(), key=itemgetter(1)))
            after = max(rows)
        return list(best)

    async def _from_index(self, scope: Scope, corpus: Corpus, vector: Vector, mask: Mask) -> Near:
        assert self._index is not None and self._projector is not None
        self._projected.add(scope)
        self._projector.notify(scope)
        try:
            hits = await self._nearest(scope, corpus, vector, mask)
        except IndexUnavailable as error:
            exact = await self._exactly(scope, corpus, vector, mask)
            return Near(exact, "exact", f"searched without {self._index.name}: {error}")
        if hits is None:
            return Near(await self._exactly(scope, corpus, vector, mask), "exact")
        return Near(hits, self._index.name)

    async def _nearest(self, scope: Scope, corpus: Corpus, vector: Vector, mask: Mask) -> dict[int, float] | None:
        """Return the nearest rows among those let through; None when too few of the index's are."""
        assert self._index is not None
        versions = await self._ledger.versions(scope)
        if versions.generation != corpus.generation or versions.model != corpus.model:
            raise Overtaken("the vectors are of another model by now")
        collection = self._collection(versions)
        identity = await self._index.identity(collection)
        if corpus.dense is not None and corpus.version - await self._ledger.delivered(scope, identity) > LATE:
            return None  # reading all that is late takes seconds where the matrix takes milliseconds
        unknown = await self._unknown_to_index(scope, identity, corpus, vector, mask)
        wanted = WANTED
        while True:
            found = await self._index.search(collection, vector, limit=wanted, identity=identity)
            hits = {row.n: 2 * row.score - 1 for row in found if _let_through(corpus, row.n, mask)}
            if len(hits) >= WANTED or len(found) < wanted:
                return hits | unknown
            wanted *= 4
            if wanted > FURTHEST:
                return None

    async def _unknown_to_index(
        self, scope: Scope, identity: str, corpus: Corpus, vector: Vector, mask: Mask
    ) -> dict[int, float]:
        """Score, exactly, what it has not been given yet, and versions of facts that are past: it holds no others."""
        past = corpus.rows.number.cells[mask & (corpus.rows.retracted_at.cells != FOREVER)].tolist()
        scores = _scored(await self._ledger.vectors(scope, past), vector) if past else {}
        delivered = await self._ledger.delivered(scope, identity)
        if delivered >= corpus.version:
            return scores
        late = delivery(await self._ledger.feed(scope, since=delivered)).vectors
        return scores | _scored({n: late[n].tobytes() for n in late if _let_through(corpus, n, mask)}, vector)

    def _collection(self, versions: Versions) -> str:
        return collection_name(self._ledger.name, versions.number, versions.generation)

    async def _delivered(self, scope: Scope, versions: Versions) -> int:
        assert self._index is not None
        identity = await self._index.identity(self._collection(versions))
        return await self._ledger.delivered(scope, identity)

    async def _exactly(self, scope: Scope, corpus: Corpus, vector: Vector, mask: Mask) -> dict[int, float]:
        """Score every row let through, from the matrix in RAM or else with vectors read from the ledger."""
        numbers = corpus.rows.number.cells[mask]
        if corpus.dense is not None:
            scores = corpus.dense.score(vector)[mask]
            return dict(zip(numbers.tolist(), scores.tolist(), strict=True))
        return _scored(await self._ledger.vectors(scope, numbers.tolist()), vector)


def _let_through(corpus: Corpus, n: int, mask: Mask) -> bool:
    """Drop ghosts, too: rows the index still has and the ledger no longer."""
    slot = corpus.slot_of.get(n)
    return slot is not None and bool(mask[slot])


def _scored(rows: Mapping[int, bytes], vector: Vector) -> dict[int, float]:
    if not rows:
        return {}
    if any(len(blob) != 4 * len(vector) for blob in rows.values()):
        raise Overtaken("the vectors are of another model by now")
    matrix = np.frombuffer(b"".join(rows.values()), np.float32).reshape(len(rows), -1)
    return dict(zip(rows, (matrix @ vector).tolist(), strict=True))
