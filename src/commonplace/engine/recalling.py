"""recall, context and facts: the way from a question to things that can be shown."""

import json
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import get_args

import numpy as np

from commonplace.domain.cursors import encode_cursor
from commonplace.domain.results import Context, Page, Recollection
from commonplace.domain.scope import Scope
from commonplace.domain.times import to_micros
from commonplace.domain.values import Fact, FactId, FactKind, Recalled, SessionId
from commonplace.domain.where import Where, matches
from commonplace.engine.corpora import Corpora
from commonplace.engine.embedding import Embedding
from commonplace.engine.hydrate import hydrate
from commonplace.engine.parts import Options, Parts
from commonplace.engine.planner import Planner
from commonplace.recall.assemble import assemble
from commonplace.recall.corpus import KINDS, Corpus, Filters
from commonplace.recall.order import Balance, Weighed, in_order, latest
from commonplace.recall.request import Request
from commonplace.recall.search import search
from commonplace.recall.tokens import count_tokens

FACT_KINDS = frozenset(KINDS) - {"message", "summary"}
CONTEXT_ITEMS = 40
"""What a context is packed from: more than a usual budget holds."""
NEAREST = 8
"""Facts that a model is shown beside a message."""
SPARE = 20
"""Hits beyond the limit that take part in the final order, where importance and recency may lift them into it."""


class Recalling:
    def __init__(self, parts: Parts, corpora: Corpora, embedding: Embedding, planner: Planner) -> None:
        self._parts, self._corpora, self._embedding, self._planner = parts, corpora, embedding, planner
        self._balance = balance_of(parts.options)

    async def recall(self, scope: Scope, request: Request) -> Recollection:
        """Return what answers the request, what holds now before what no longer does."""
        now = self._parts.now()
        if not request.limit:
            return Recollection()
        notes: list[str] = []
        path = "exact"
        if request.query.strip():
            weighed, path, notes = await self._search(scope, request, now)
        else:
            async with self._corpora.at_hand(scope) as corpus:
                weighed = latest(
                    corpus,
                    corpus.mask(filters_of(request, now)),
                    balance=self._balance,
                    now=to_micros(now),
                    limit=request.limit,
                )
        found = await hydrate(
            self._parts.ledger,
            scope,
            weighed[: request.limit],
            at=request.valid_at or request.as_of or now,
            path=path,
            explain=request.explain,
        )
        return Recollection(_current_first(found) if request.query.strip() else found, notes=notes)

    async def context(self, scope: Scope, query: str, *, session: SessionId | None, budget: int) -> Context:
        found = await self.recall(scope, Request(query=query, limit=CONTEXT_ITEMS))
        items = [item for item in found if session is None or item.session != session]
        blocks = await self._parts.ledger.blocks(scope)
        return assemble(items, blocks, budget=budget, count=count_tokens, notes=found.notes)

    async def facts(self, scope: Scope, request: Request, *, before: int | None) -> Page[Fact]:
        """Return one page of facts, the latest written first, from the row before `before` on."""
        kinds = FACT_KINDS if request.kinds is None else request.kinds & FACT_KINDS
        async with self._corpora.at_hand(scope) as corpus:
            mask = corpus.mask(filters_of(request, self._parts.now(), kinds=kinds))
            slots = np.flatnonzero(mask)
            numbers = corpus.rows.number.cells[slots]
            order = np.argsort(-numbers)
            rows = [int(n) for n in numbers[order] if before is None or n < before][: request.limit + 1]
            keys = [_versioned(corpus, n) for n in rows[: request.limit]]
        facts = await self._parts.ledger.versions_by_id(scope, keys)
        following = encode_cursor(rows[request.limit - 1]) if len(rows) > request.limit else None
        return Page(tuple(facts[key] for key in keys if key in facts), following)

    async def nearest(self, scope: Scope, text: str) -> Sequence[Fact]:
        """Return the facts that hold and have most to do with a text, for who has to judge it."""
        found = await self.recall(
            scope, Request(query=text[:2_000], limit=NEAREST, kinds=frozenset(get_args(FactKind)))
        )
        facts = await self._parts.ledger.facts_by_id(scope, [FactId(item.id) for item in found])
        return list(facts.values())

    async def _search(self, scope: Scope, request: Request, now: datetime) -> tuple[list[Weighed], str, list[str]]:
        (sense,), unembedded = await self._embedding.embed([request.query])
        vector = sense.vector if sense else None
        async with self._corpora.at_hand(scope) as corpus:
            mask = corpus.mask(filters_of(request, now))
            dense = await self._planner.near(scope, corpus, vector, mask)
            hits = await self._planner.offload(
                len(corpus),
                lambda: search(
                    corpus,
                    request.query,
                    mask=mask,
                    now=to_micros(now),
                    limit=request.limit + SPARE,
                    query_vector=vector,
                    dense_hits=dense.hits,
                    query_tokens=sense.tokens if sense else None,
                ),
            )
            least = _first_given(request.min_relevance, self._parts.options.min_relevance, DEFAULT_RELEVANCE)
            weighed = in_order(corpus, hits, balance=self._balance, now=to_micros(now), least=least)
        return weighed, dense.path, [note for note in (unembedded, dense.note) if note]


DEFAULT_RELEVANCE = 0.1


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


def _micros(moment: datetime | None) -> int | None:
    return None if moment is None else to_micros(moment)


def _first_given(*values: float | None) -> float:
    return next(value for value in values if value is not None)
