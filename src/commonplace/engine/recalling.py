"""recall and facts: the way from a question to things that can be shown."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import date, datetime
from typing import NamedTuple, get_args

import numpy as np

from commonplace.domain.cursors import encode_cursor
from commonplace.domain.errors import Overtaken, RerankerUnavailable
from commonplace.domain.results import Folded, Page, Recollection
from commonplace.domain.scope import Scope
from commonplace.domain.times import to_micros
from commonplace.domain.values import Fact, FactId, FactKind, Recalled
from commonplace.domain.where import Where, matches
from commonplace.engine.choosing import Choosing
from commonplace.engine.corpora import Beyond, Corpora, Part
from commonplace.engine.hydrate import Terms, hydrate
from commonplace.engine.oversized import Oversized, Query
from commonplace.engine.parts import Options, Parts
from commonplace.engine.planner import Near, Planner
from commonplace.ports.embedder import Vectors
from commonplace.ports.ledger import Versions
from commonplace.recall.assemble import describe
from commonplace.recall.corpus import KINDS, Corpus, Filters, Mask
from commonplace.recall.fold import fold
from commonplace.recall.order import Balance, Weighed, in_order, latest, reranked, threshold
from commonplace.recall.overview import overview
from commonplace.recall.request import Request
from commonplace.recall.search import Asked, Ranked, hits_of, rank, search
from commonplace.recall.trace import Trace, look_for
from commonplace.recall.understand import understand
from commonplace.recall.when import Birthday, birthday_of, moved_to
from commonplace.recall.wishes import that_stand, wishes

FACT_KINDS = frozenset(KINDS) - {"message", "summary"}
NEAREST = 8
"""Facts that a model is shown beside a message."""
RERANKED = 30
"""So many of the best are shown to a reranker."""
SPARE = 20
"""Hits beyond the limit that take part in the final order, where importance and recency may lift them into it."""

WISHES = 100
"""So many of the latest preferences and wishes are looked through for how the user wants to be answered."""


class Searched(NamedTuple):
    """What a search has found, in its final order."""

    weighed: Sequence[Weighed]
    terms: Terms
    notes: Sequence[str]
    trace: Trace | None = None


class Ready(NamedTuple):
    """A question and the rows that it is asked of."""

    corpus: Corpus
    asked: Asked
    mask: Mask
    now: int
    limit: int
    path: str
    notes: Sequence[str]

    def rank(self) -> Ranked | None:
        return rank(self.corpus, self.asked, mask=self.mask, now=self.now, limit=self.limit)


class Recalling:
    def __init__(
        self,
        parts: Parts,
        corpora: Corpora,
        choosing: Choosing,
        planner: Planner,
        *,
        settle: Callable[[Scope], Awaitable[None]],
    ) -> None:
        """`settle` fills in the vectors of a user that are still to be made."""
        self._settle = settle
        self._parts, self._corpora, self._choosing, self._planner = parts, corpora, choosing, planner
        self._balance = balance_of(parts.options)
        self.oversized = Oversized(parts, planner)

    async def recall(self, scope: Scope, request: Request) -> Recollection:
        """Return what answers the request, what holds now before what no longer does."""
        now = self._parts.now()
        if not request.limit:
            return Recollection()
        at = request.valid_at or request.as_of or now
        if not request.query.strip():
            weighed = await self._latest(scope, request, now)
            explain = Terms() if request.explain else None
            return Recollection(await hydrate(self._parts.ledger, scope, weighed, at=at, explain=explain))
        searched = await self.search(scope, request, now)
        found, folded = await self._folded(scope, request, searched, at)
        return Recollection(_current_first(found), notes=searched.notes, folded=folded)

    async def search(self, scope: Scope, request: Request, now: datetime, *, about: str | None = None) -> Searched:
        """Return what is found, in its order; with `about`, also what became of that item."""
        await self._settle(scope)
        async with self._ready(scope, request, now) as ready:
            ranked = await self._planner.offload(len(ready.corpus), ready.rank)
            hits = [] if ranked is None else hits_of(ready.corpus, ranked, limit=ready.limit, explain=request.explain)
            least = request.min_relevance
            if least is None:
                least = self._parts.options.min_relevance
            weighed = in_order(ready.corpus, hits, balance=self._balance, now=ready.now, least=least)
            terms = self._terms(ready.path, threshold(hits) if least is None else least)
            first = overview(
                ready.corpus,
                request.query,
                mask=ready.mask,
                balance=self._balance,
                now=ready.now,
                limit=ready.limit,
            )
            trace = (
                None
                if about is None or ranked is None
                else look_for(ready.corpus, ranked, about, balance=self._balance, now=ready.now)
            )
        at = request.valid_at or request.as_of or now
        weighed, note = await self._reranked(scope, request.query, weighed, at)
        summed_up = {one.hit.n for one in first}
        weighed = [*first, *(one for one in weighed if one.hit.n not in summed_up)]
        return Searched(weighed, terms, [*ready.notes, *([note] if note else [])], trace)

    async def _folded(
        self, scope: Scope, request: Request, searched: "Searched", at: datetime
    ) -> tuple[list[Recalled], list[Folded]]:
        """Return as many results as are asked for, each standing for all that says the same."""
        items: list[Recalled] = []
        kept: list[Recalled] = []
        folded: list[Folded] = []
        rest, explain = list(searched.weighed), searched.terms if request.explain else None
        while rest and len(kept) < request.limit:
            missing = request.limit - len(kept)
            items += await hydrate(self._parts.ledger, scope, rest[:missing], at=at, explain=explain)
            rest = rest[missing:]
            kept, folded = fold(items, language=self._parts.options.language) if request.fold else (items, [])
        return kept, folded

    async def _reranked(
        self, scope: Scope, query: str, weighed: list[Weighed], at: datetime
    ) -> tuple[list[Weighed], str | None]:
        """Return the items in the reranker's order; in ours, with a note, where it fails."""
        reranker = self._parts.reranker
        if reranker is None or len(weighed) < 2:
            return weighed, None
        first = weighed[:RERANKED]
        shown = {item.id: item for item in await hydrate(self._parts.ledger, scope, first, at=at, explain=None)}
        there = [found for found in first if found.hit.id in shown]
        try:
            scores = await reranker.score(query, [describe(shown[found.hit.id]) for found in there])
        except RerankerUnavailable as error:
            return weighed, f"not reranked: {error}"
        return reranked([*there, *weighed[RERANKED:]], scores, balance=self._balance), None

    def _terms(self, path: str, least: float) -> Terms:
        balance = self._balance
        weights = {"relevance": balance.relevance, "importance": balance.importance, "recency": balance.recency}
        return Terms(path, least, weights)

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

    async def embed(self, scope: Scope, texts: Sequence[str]) -> Vectors:
        """Return one row per text."""
        senses, dimensions = await self._choosing.of(scope).embed_all(texts), self._dimensions(scope)
        return np.array([sense.vector for sense in senses], np.float32).reshape(-1, dimensions)

    def _dimensions(self, scope: Scope) -> int:
        return self._parts.embedder_of(scope).dimensions

    async def nearest(self, scope: Scope, text: str) -> Sequence[Fact]:
        """Return the facts that hold and have most to do with a text, for who has to judge it."""
        found = await self.recall(
            scope, Request(query=text[:2_000], limit=NEAREST, min_relevance=0.0, kinds=frozenset(get_args(FactKind)))
        )
        facts = await self._parts.ledger.facts_by_id(scope, [FactId(item.id) for item in found])
        return list(facts.values())

    @asynccontextmanager
    async def _ready(self, scope: Scope, request: Request, now: datetime) -> AsyncIterator["Ready"]:
        """Yield the rows in which the answer is, with the question in all its forms, by the model of their vectors.

        Where another model's vectors take their place in the middle of it, it begins anew.
        """
        while True:
            async with AsyncExitStack() as stack:
                try:
                    ready = await stack.enter_async_context(self._asked(scope, request, now))
                except Overtaken:
                    continue
                if ready is not None:
                    yield ready
                    return

    @asynccontextmanager
    async def _asked(self, scope: Scope, request: Request, now: datetime) -> AsyncIterator["Ready | None"]:
        embedding = self._choosing.of(scope)
        model = embedding.identity
        (sense,), unembedded = await embedding.embed([request.query], asked=True)
        vector = sense.vector if sense else None
        filters, limit = filters_of(request, now), request.limit + SPARE
        birthday = await self._birthday(scope, request.query)
        moved = await self._moved(scope, request.query)

        def asked(near: Mapping[int, float] | None) -> Asked:
            tokens = sense.tokens if sense else None
            return Asked(text=request.query, vector=vector, hits=near, tokens=tokens, birthday=birthday, moved=moved)

        async def best_of(slab: Corpus) -> Iterable[int]:
            mask = slab.mask(filters)
            if not mask.any():
                return []
            hits = await self._planner.offload(
                len(slab), lambda: search(slab, asked(None), mask=mask, now=filters.now, limit=2 * limit, explain=False)
            )
            return _with_neighbours(slab, [slab.slot_of[hit.n] for hit in hits])

        async def beyond(versions: Versions) -> Part:
            question = understand(request.query, speakers={}, now=filters.now, language=self._parts.options.language)
            query = Query(terms=question.terms, vector=vector, filters=filters, filtered=request.filtered, wanted=limit)
            return await self.oversized.answering(scope, versions, query, best_of)

        async with self._corpora.at_hand(scope, beyond) as part:
            mask = part.corpus.mask(filters)
            near = Near(None, part.path) if part.path else await self._planner.near(scope, part.corpus, vector, mask)
            notes = [note for note in (unembedded, near.note, *part.notes) if note]
            if not await self._of_one_model(scope, part, model):
                yield None
                return
            yield Ready(part.corpus, asked(near.hits), mask, filters.now, limit, near.path, notes)

    async def _of_one_model(self, scope: Scope, part: Part, asked: str) -> bool:
        """Say whether the model that was asked is still that of the rows, and of the ledger's vectors."""
        generation, own = part.corpus.generation, part.corpus.model
        if part.path is not None or part.corpus.dense is None:  # then vectors were read just now
            versions = await self._parts.ledger.versions(scope)
            generation, own = versions.generation, versions.model
        same = asked == self._parts.embedder_of(scope).identity and generation == self._parts.generation
        return own == part.corpus.model and (self._parts.following is None or same)

    async def _birthday(self, scope: Scope, query: str) -> Birthday | None:
        """Return the user's birthday, if the question speaks of it and a fact says when it is."""
        if "my birthday" not in query.casefold() and "my last birthday" not in query.casefold():
            return None
        facts = await self._parts.ledger.believed(scope, attributes=[("user", "birthday")])
        known = [birthday_of(fact.value or fact.text) for fact in facts if fact.valid_to is None]
        return known[-1] if known else None

    async def _moved(self, scope: Scope, query: str) -> date | None:
        """Return when the user moved to the place that a question names, if a fact says so."""
        place = moved_to(query)
        if place is None:
            return None
        homes = await self._parts.ledger.believed(scope, attributes=[("user", "home")])
        known = [
            home.valid_from.date()
            for home in homes
            if home.valid_from and home.value and f"{place} ".casefold().startswith(f"{home.value} ".casefold())
        ]
        return known[-1] if known else None

    async def _latest(self, scope: Scope, request: Request, now: datetime) -> list[Weighed]:
        filters = filters_of(request, now)

        def last(corpus: Corpus) -> list[Weighed]:
            return latest(corpus, corpus.mask(filters), balance=self._balance, now=filters.now, limit=request.limit)

        beyond = self._beyond(scope, lambda slab: [found.hit.n for found in last(slab)])
        async with self._corpora.at_hand(scope, beyond) as part:
            return last(part.corpus)

    async def wishes(self, scope: Scope) -> list[Recalled]:
        """Return how the user wants to be answered, the latest first. Nothing where the rows are too many for RAM.

        There it would take a look at every row, for each context.
        """
        now = self._parts.now()

        async def none(versions: Versions) -> Part:
            return Part(Corpus(dimensions=self._dimensions(scope)))

        async with self._corpora.at_hand(scope, none) as part:
            filters = Filters(now=to_micros(now))
            mask = part.corpus.mask(filters)
            weighed = wishes(part.corpus, mask, balance=self._balance, now=filters.now, limit=WISHES)
        return that_stand(await hydrate(self._parts.ledger, scope, weighed, at=now, explain=None))

    def _beyond(self, scope: Scope, pick: Callable[[Corpus], Iterable[int]]) -> Beyond:
        """Return how to find the rows that `pick` wants in a partition that is too large: it is shown all of them."""

        async def picked(slab: Corpus) -> Iterable[int]:
            return pick(slab)

        return lambda versions: self.oversized.winnowed(scope, versions, picked)


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
    """Put what no longer holds after every fact, and after what was said later and is half as likely to answer.

    What has nothing to do with the change stays behind it: a message is not worse because one of its facts has ended.
    """
    current = [(place, item) for place, item in enumerate(found) if item.note is None]

    def place_of(numbered: tuple[int, Recalled]) -> tuple[int, bool]:
        place, item = numbered
        if item.note is None:
            return place, False
        ahead = [other for other, holds in current if _says_what_holds(holds, instead_of=item)]
        return max([place, *ahead]), True

    return [item for _, item in sorted(enumerate(found), key=place_of)]


def _says_what_holds(item: Recalled, *, instead_of: Recalled) -> bool:
    return item.kind != "message" or (item.at > instead_of.at and item.relevance >= instead_of.relevance / 2)


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
