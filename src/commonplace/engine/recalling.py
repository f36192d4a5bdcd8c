"""recall and facts: the way from a question to things that can be shown."""

import json
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import get_args

import numpy as np

from commonplace.domain.cursors import encode_cursor
from commonplace.domain.results import Page, Recollection
from commonplace.domain.scope import Scope
from commonplace.domain.times import to_micros
from commonplace.domain.values import Fact, FactId, FactKind, Recalled
from commonplace.domain.where import Where, matches
from commonplace.engine.corpora import Beyond, Corpora, Part
from commonplace.engine.embedding import Embedding
from commonplace.engine.hydrate import hydrate
from commonplace.engine.oversized import Oversized, Query
from commonplace.engine.parts import Options, Parts
from commonplace.engine.planner import Near, Planner
from commonplace.ports.ledger import Versions
from commonplace.recall.corpus import KINDS, Corpus, Filters, Mask
from commonplace.recall.order import Balance, Weighed, in_order, latest
from commonplace.recall.overview import overview
from commonplace.recall.request import Request
from commonplace.recall.search import Asked, Hit, search
from commonplace.recall.understand import understand

FACT_KINDS = frozenset(KINDS) - {"message", "summary"}
NEAREST = 8
"""Facts that a model is shown beside a message."""
SPARE = 20
"""Hits beyond the limit that take part in the final order, where importance and recency may lift them into it."""


class Recalling:
    def __init__(
        self,
        parts: Parts,
        corpora: Corpora,
        embedding: Embedding,
        planner: Planner,
        *,
        settle: Callable[[Scope], Awaitable[None]],
    ) -> None:
        """`settle` fills in the vectors of a user that are still to be made."""
        self._settle = settle
        self._parts, self._corpora, self._embedding, self._planner = parts, corpora, embedding, planner
        self._balance = balance_of(parts.options)
        self._oversized = Oversized(parts, planner)

    async def recall(self, scope: Scope, request: Request) -> Recollection:
        """Return what answers the request, what holds now before what no longer does."""
        now = self._parts.now()
        if not request.limit:
            return Recollection()
        notes: list[str] = []
        path = "exact"
        if request.query.strip():
            await self._settle(scope)
            weighed, path, notes = await self._search(scope, request, now)
        else:
            weighed = await self._latest(scope, request, now)
        found = await hydrate(
            self._parts.ledger,
            scope,
            weighed[: request.limit],
            at=request.valid_at or request.as_of or now,
            path=path,
            explain=request.explain,
        )
        return Recollection(_current_first(found) if request.query.strip() else found, notes=notes)

    async def facts(self, scope: Scope, request: Request, *, before: int | None) -> Page[Fact]:
        """Return one page of facts, the latest written first, from the row before `before` on."""
        kinds = FACT_KINDS if request.kinds is None else request.kinds & FACT_KINDS
        filters = filters_of(request, self._parts.now(), kinds=kinds)

        def newest(corpus: Corpus) -> list[int]:
            numbers = -np.sort(-corpus.rows.number.cells[corpus.mask(filters)])
            return [int(n) for n in numbers if before is None or n < before][: request.limit + 1]

        async with self._corpora.at_hand(scope, self._beyond(scope, newest)) as part:
            rows = newest(part.corpus)
            keys = [_versioned(part.corpus, n) for n in rows[: request.limit]]
        facts = await self._parts.ledger.versions_by_id(scope, keys)
        following = encode_cursor(rows[request.limit - 1]) if len(rows) > request.limit else None
        return Page(tuple(facts[key] for key in keys if key in facts), following)

    async def nearest(self, scope: Scope, text: str) -> Sequence[Fact]:
        """Return the facts that hold and have most to do with a text, for who has to judge it."""
        found = await self.recall(
            scope, Request(query=text[:2_000], limit=NEAREST, min_relevance=0.0, kinds=frozenset(get_args(FactKind)))
        )
        facts = await self._parts.ledger.facts_by_id(scope, [FactId(item.id) for item in found])
        return list(facts.values())

    async def _search(self, scope: Scope, request: Request, now: datetime) -> tuple[list[Weighed], str, list[str]]:
        (sense,), unembedded = await self._embedding.embed([request.query])
        vector = sense.vector if sense else None
        filters, limit = filters_of(request, now), request.limit + SPARE

        async def hits_of(corpus: Corpus, near: Mapping[int, float] | None, mask: Mask, *, limit: int) -> list[Hit]:
            asked = Asked(text=request.query, vector=vector, hits=near, tokens=sense.tokens if sense else None)
            return await self._planner.offload(
                len(corpus),
                lambda: search(corpus, asked, mask=mask, now=filters.now, limit=limit, explain=request.explain),
            )

        async def best_of(slab: Corpus) -> Iterable[int]:
            mask = slab.mask(filters)
            hits = await hits_of(slab, None, mask, limit=2 * limit) if mask.any() else []
            return _with_neighbours(slab, [slab.slot_of[hit.n] for hit in hits])

        async def beyond(versions: Versions) -> Part:
            question = understand(request.query, speakers={}, now=filters.now, language=self._parts.options.language)
            query = Query(terms=question.terms, vector=vector, filters=filters, filtered=request.filtered, wanted=limit)
            return await self._oversized.answering(scope, versions, query, best_of)

        async with self._corpora.at_hand(scope, beyond) as part:
            mask = part.corpus.mask(filters)
            near = Near(None, part.path) if part.path else await self._planner.near(scope, part.corpus, vector, mask)
            hits = await hits_of(part.corpus, near.hits, mask, limit=limit)
            least = request.min_relevance
            if least is None:
                least = self._parts.options.min_relevance
            weighed = in_order(part.corpus, hits, balance=self._balance, now=filters.now, least=least)
            first = overview(
                part.corpus, request.query, mask=mask, balance=self._balance, now=filters.now, limit=request.limit
            )
            weighed = [*first, *(one for one in weighed if one.hit.n not in {each.hit.n for each in first})]
        return weighed, near.path, [note for note in (unembedded, near.note, *part.notes) if note]

    async def _latest(self, scope: Scope, request: Request, now: datetime) -> list[Weighed]:
        filters = filters_of(request, now)

        def last(corpus: Corpus) -> list[Weighed]:
            return latest(corpus, corpus.mask(filters), balance=self._balance, now=filters.now, limit=request.limit)

        beyond = self._beyond(scope, lambda slab: [found.hit.n for found in last(slab)])
        async with self._corpora.at_hand(scope, beyond) as part:
            return last(part.corpus)

    def _beyond(self, scope: Scope, pick: Callable[[Corpus], Iterable[int]]) -> Beyond:
        """Return how to find the rows that `pick` wants in a partition that is too large: it is shown all of them."""

        async def picked(slab: Corpus) -> Iterable[int]:
            return pick(slab)

        return lambda versions: self._oversized.winnowed(scope, versions, picked)


def filters_of(request: Request, now: datetime, *, kinds: frozenset[str] | None = None) -> Filters:
    """Return the request's filters. What was known then is asked about then, unless another moment is named."""
    valid_at = request.valid_at or request.as_of
    return Filters(
        now=to_micros(now),
        kinds=request.kinds if kinds is None else kinds,
        sessions=None if request.session is None else frozenset({request.session}),
        during=None if request.during is None else (_micros(request.during[0]), _micros(request.during[1])),
        valid_at=_micros(valid_at),
        as_of=_micros(request.as_of),
        where=None if request.where is None else _predicate(request.where),
        agent=request.agent,
    )


def balance_of(options: Options) -> Balance:
    return Balance(
        relevance=options.relevance_weight,
        importance=options.importance_weight,
        recency=options.recency_weight,
        half_life_days=options.recency_half_life_days,
    )


def _current_first(found: Sequence[Recalled]) -> list[Recalled]:
    """Put what no longer holds after everything that does, each in its order."""
    return sorted(found, key=lambda item: item.note is not None)


def _predicate(where: Where) -> Callable[[str | None], bool]:
    def holds(metadata: str | None) -> bool:
        return matches(where, json.loads(metadata) if metadata else {})

    return holds


def _versioned(corpus: Corpus, n: int) -> tuple[FactId, int]:
    slot = corpus.slot_of[n]
    return FactId(corpus.ids[slot]), int(corpus.rows.version.cells[slot])


def _with_neighbours(corpus: Corpus, slots: Sequence[int]) -> list[int]:
    near = corpus.threads.around(np.array(slots, np.int64))
    numbers: list[int] = corpus.rows.number.cells[near].tolist()
    return numbers


def _micros(moment: datetime | None) -> int | None:
    return None if moment is None else to_micros(moment)
