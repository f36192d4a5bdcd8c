"""A part of a user's rows that holds the answer to one request, where all of them would not fit the memory budget.

Either candidates by words and nearness, or every row, slab by slab, of which each time the best are kept. The part is
then searched by the same function as a whole partition would be.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from commonplace.domain.errors import InvalidInput
from commonplace.domain.scope import Scope
from commonplace.engine.corpora import Part, take_in
from commonplace.engine.parts import Parts
from commonplace.engine.planner import Planner
from commonplace.ports.ledger import Feed, Vector, Versions
from commonplace.recall.corpus import Corpus, Filters
from commonplace.recall.lexical import idf
from commonplace.recall.plan import row_bytes, rows_within, source
from commonplace.recall.slabs import slabs
from commonplace.recall.weights import Weights

Pick = Callable[[Corpus], Awaitable[Iterable[int]]]
"""Returns the numbers of the rows that are worth keeping, of those it is shown."""

MATCHES, NEAREST = 1_000, 200
"""Candidates by words and by nearness, if there is room for them."""
REACH = 4
"""Rows on either side that come with a candidate: mostly its neighbours, whose words count for it."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Query:
    """What a query looks for."""

    terms: Sequence[int]
    vector: Vector | None
    filters: Filters
    filtered: bool
    """Whether the filters leave out anything that holds now."""
    wanted: int
    """How many hits."""


class Oversized:
    def __init__(self, parts: Parts, planner: Planner) -> None:
        self._ledger, self._full_text, self._planner = parts.ledger, parts.full_text, planner
        self._parts, self._language = parts, parts.options.language
        self._weights = parts.weights
        self._budget = parts.options.cache_bytes

    def _rows(self, scope: Scope) -> int:
        # A slab is there twice, as it was read and as a corpus, and the next is read before it is gone.
        return rows_within(self._budget // 4, bytes_each=row_bytes(self._dimensions(scope)))

    def _places(self, scope: Scope) -> int:
        rows = rows_within(self._budget // 2, bytes_each=row_bytes(self._dimensions(scope)))
        return max(1, rows // (2 * (2 * REACH + 1)))

    async def answering(self, scope: Scope, versions: Versions, query: Query, pick: Pick) -> Part:
        """Return the rows among which the answer to a query is."""
        if source(filtered=query.filtered, full_text=self._full_text is not None) == "full text":
            part, cut = await self._candidates(scope, versions, query)
            # Versions that are past and messages that have expired match too, and may take all the places.
            if not cut or np.count_nonzero(part.corpus.mask(query.filters)) >= query.wanted:
                return part
        return await self.winnowed(scope, versions, pick, query)

    async def _candidates(self, scope: Scope, versions: Versions, query: Query) -> tuple[Part, bool]:
        """Return the rows that match or are near, with their neighbours, and whether there were more of them."""
        assert self._full_text is not None
        notes = await self._build(scope, versions)
        most, nearest = min(MATCHES, self._places(scope)), min(NEAREST, self._places(scope))
        matching = await self._full_text.matching(scope, query.terms, limit=most)
        near = await self._planner.nearest(scope, versions, query.vector, limit=nearest)
        numbers = {n + step for n in (*matching, *near.numbers) for step in range(-REACH, REACH + 1)}
        corpus = await self._read(scope, numbers, await self._idf(scope, versions, query))
        path = " and ".join(["full text", *([near.of] if near.of else [])])
        cut = len(matching) == most or len(near.numbers) >= nearest
        return Part(corpus, path, [*notes, *([near.note] if near.note else [])]), cut

    async def winnowed(self, scope: Scope, versions: Versions, pick: Pick, query: Query | None = None) -> Part:
        """Return the best of every row, slab by slab."""
        notes: list[str] = []
        known: Mapping[int, float] = {}
        if query is not None and self._full_text is not None:
            notes = await self._build(scope, versions)
            known = await self._idf(scope, versions, query)
        kept: set[int] = set()
        vectors = query is not None
        async for feed in slabs(self._ledger, scope, rows=self._rows(scope), vectors=vectors):
            kept.update(await pick(await self._corpus(scope, feed, known, vectors=vectors)))
            if len(kept) > self._rows(scope):
                kept = set(await pick(await self._read(scope, kept, known)))
        return Part(await self._read(scope, kept, known), "exact, in slabs", notes)

    async def _build(self, scope: Scope, versions: Versions) -> list[str]:
        """Make sure that the user has a full text. Returns what is to be said about it."""
        assert self._full_text is not None
        try:
            await self._full_text.matching(scope, (), limit=1)
        except InvalidInput:
            await self._full_text.build_full_text(scope)
            return [f"the full text of {versions.rows:,} rows was built first: the next search is quicker"]
        return []

    async def _idf(self, scope: Scope, versions: Versions, query: Query) -> Mapping[int, float]:
        """Weigh terms by all rows of the user, as the whole would: a row's words count for its neighbours too."""
        assert self._full_text is not None
        holding = await self._full_text.holding(scope, query.terms)
        spread = 1 + len(Weights().before) + len(Weights().after)
        rows = versions.rows
        reached = {term: round(rows * (1 - (1 - min(1, count / rows)) ** spread)) for term, count in holding.items()}
        return {term: idf(rows, count) for term, count in reached.items()}

    async def _read(self, scope: Scope, numbers: Iterable[int], known: Mapping[int, float]) -> Corpus:
        return await self._corpus(scope, await self._ledger.rows(scope, sorted(numbers)), known, vectors=True)

    def _dimensions(self, scope: Scope) -> int:
        return self._parts.embedder_of(scope).dimensions

    async def _corpus(self, scope: Scope, feed: Feed, known: Mapping[int, float], *, vectors: bool) -> Corpus:
        dimensions = self._dimensions(scope)
        corpus = Corpus(dimensions=dimensions, vectors=vectors, language=self._language, weights=self._weights)
        corpus.generation, corpus.model = feed.versions.generation, feed.versions.model
        corpus.lexical.known_idf = known
        await take_in(corpus, feed)
        corpus.others = feed.versions.rows - len(corpus)
        return corpus
