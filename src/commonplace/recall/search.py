"""The one way to search a corpus: what the product calls, and what the benchmark measures."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import date
from functools import partial
from math import sqrt
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from commonplace.recall.beside import beside
from commonplace.recall.calibrate import THRESHOLD, Evidence, answerable, relevance
from commonplace.recall.corpus import KINDS, Corpus, Mask
from commonplace.recall.dense import filled, smoothed
from commonplace.recall.features import Has
from commonplace.recall.fuse import Floats, Slots, top, union, weighted
from commonplace.recall.late import Interaction, QueryTokens, interact
from commonplace.recall.packed import asks
from commonplace.recall.rank import signs, standing
from commonplace.recall.understand import Question, understand
from commonplace.recall.when import Birthday

SIDE_BY_SIDE = 8_000
"""Rows from which vectors and words are looked at by two threads: to start one takes as long as 1,000 vectors."""


class Hit(NamedTuple):
    """One message or fact that was found, by its best row."""

    n: int
    id: str
    version: int
    """Of a fact; 0 for a message."""
    kind: str
    relevance: float
    """0..1: how likely it is that this answers."""
    score: float
    """The fused score: only good for the order within one search."""
    arms: Mapping[str, tuple[int, float]] = MappingProxyType({})
    """For each arm that found it: its rank, from 1, and its score there."""
    parts: Mapping[str, float] = MappingProxyType({})
    """What the fused score is the sum of."""
    evidence: Mapping[str, float] = MappingProxyType({})
    """What the relevance of the best item was made of; the others' follows from how far they are behind it."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Asked:
    """A question in all the forms that the arms need; a form that is not there leaves its arm out."""

    text: str
    vector: NDArray[np.float32] | None = None
    """Compared with the vectors that the corpus holds."""
    hits: Mapping[int, float] | None = None
    """Row numbers with their cosines, where an index outside has answered for the vector."""
    tokens: QueryTokens | None = None
    birthday: Birthday | None = None
    moved: date | None = None
    """When the user moved to the place that the question names."""


@dataclass(frozen=True, slots=True, eq=False)
class Arm:
    name: str
    scores: Floats
    """Of every slot."""
    found: Slots


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    question: Question
    slots: Slots
    arms: list[Arm]
    term_weights: dict[int, float]
    repeats: Floats
    """Which share of its own words each slot has in common with the question."""
    reach: Floats | None = None
    """How near the tokens come to the question's; None where there are none."""


@dataclass(frozen=True, slots=True, eq=False)
class Ranked:
    """Every candidate of a search, in its order."""

    every: Candidates
    """All of them; `found` are those that were compared token by token, where there are tokens."""
    found: Candidates
    parts: Mapping[str, Floats]
    fused: Floats
    order: Slots
    """The best row of each message or fact, as places in `found`, the best first."""
    evidence: Evidence
    likely: Floats


def search(corpus: Corpus, asked: Asked, *, mask: Mask, now: int, limit: int, explain: bool = True) -> list[Hit]:
    """Return up to `limit` hits, the best first; with `explain`, each with the numbers that made its place."""
    ranked = rank(corpus, asked, mask=mask, now=now, limit=limit)
    return [] if ranked is None else hits_of(corpus, ranked, limit=limit, explain=explain)


def rank(corpus: Corpus, asked: Asked, *, mask: Mask, now: int, limit: int) -> Ranked | None:
    """Return every candidate, for a search of `limit` hits; None if there is none."""
    every = retrieve(corpus, asked, mask=mask, now=now)
    if not len(every.slots):
        return None
    found, parts = fused_parts(corpus, every, asked.tokens, limit=limit)
    echoing = echoes(corpus, found)
    if echoing.any() and not echoing.all():
        behind = _ranked(corpus, every, found, parts | {"echo": -np.float32(corpus.weights.echo) * echoing})
        if behind.likely.max() >= THRESHOLD:
            return behind
    return _ranked(corpus, every, found, parts)


def _ranked(corpus: Corpus, every: Candidates, found: Candidates, parts: Mapping[str, Floats]) -> Ranked:
    fused = np.sum(list(parts.values()), axis=0)
    best = best_rows(corpus, found.slots, fused)
    shown = evidence(corpus, found, best)
    return Ranked(every, found, parts, fused, best, shown, relevance(fused, best=answerable(shown)))


def echoes(corpus: Corpus, found: Candidates) -> NDArray[np.bool_]:
    """Return which candidates only ask what is asked now. They are behind every answer; without one, they are shown."""
    asking = asks(corpus.rows.has.cells[found.slots], Has.ENDS_ASKING)
    echoing: NDArray[np.bool_] = asking & (found.repeats[found.slots] >= corpus.weights.echoing)
    return echoing


def hits_of(corpus: Corpus, ranked: Ranked, *, limit: int, explain: bool) -> list[Hit]:
    order = ranked.order[:limit]
    hits = hits_at(corpus, ranked.found.slots[order], ranked.fused[order], ranked.likely[order])
    if not explain:
        return hits
    return [explained(hit, corpus, ranked, place) for hit, place in zip(hits, order.tolist(), strict=True)]


def retrieve(corpus: Corpus, asked: Asked, *, mask: Mask, now: int) -> Candidates:
    """Return the union of what the arms find."""
    cosines = _begin_cosines(corpus, asked)
    question = understand(
        asked.text,
        speakers=corpus.names,
        now=_latest(corpus, now),
        language=corpus.language,
        birthday=asked.birthday,
        moved=asked.moved,
    )
    weights = corpus.weights
    lexical = corpus.lexical.score(
        list(question.terms),
        lambda term, idf: min(idf, weights.name_cap) if term in question.names else 2 * sqrt(idf),
    )
    arms = [
        Arm("lexical", lexical.scores, top(lexical.scores, mask & (lexical.scores > 0), weights.lexical_candidates))
    ]
    plain = cosines()
    if plain is not None:
        smooth = smoothed(plain, corpus.threads, weights)
        arms.append(Arm("context", smooth, top(smooth, mask, weights.dense_candidates)))
        arms.append(Arm("dense", plain, top(plain, mask, weights.plain_candidates)))
    if question.requests:
        near = lexical.scores if plain is None else plain
        wishes = mask & standing(corpus, np.arange(len(mask)))
        arms.append(Arm("standing", near, top(near, wishes, weights.standing_candidates)))
    return Candidates(question, union(len(mask), *(arm.found for arm in arms)), arms, lexical.weights, lexical.repeats)


def _latest(corpus: Corpus, now: int) -> int:
    """Return now, or the last moment that anything was said: "in June" means the last June that is talked of."""
    said = corpus.rows.at.cells
    return min(now, int(said.max())) if len(said) else now


def _begin_cosines(corpus: Corpus, asked: Asked) -> Callable[[], Floats | None]:
    """Compare the vectors while this thread looks at the words, where they are many."""
    work = partial(_cosines, corpus, asked)
    return beside(work) if asked.hits is None and len(corpus.ids) >= SIDE_BY_SIDE else work


def _cosines(corpus: Corpus, asked: Asked) -> Floats | None:
    if asked.hits is not None:
        known = {corpus.slot_of[n]: score for n, score in asked.hits.items() if n in corpus.slot_of}
        return filled(known, len(corpus.ids))
    if asked.vector is not None and corpus.dense is not None:
        return corpus.dense.score(asked.vector)
    return None


def fused_parts(
    corpus: Corpus, found: Candidates, tokens: QueryTokens | None, *, limit: int
) -> tuple[Candidates, dict[str, Floats]]:
    """Return the candidates that are left, and what the fused score of each is the sum of."""
    marks = signs(corpus, found.slots, found.question)
    alone = {f"{name}_alone": part for name, part in _likeness(found).items()}
    parts = weighted(alone | marks, corpus.weights)
    if tokens is None or not len(corpus.tokens):
        return found, parts
    count = max(corpus.weights.late_candidates, limit + limit // 2)
    best = np.argsort(-np.sum(list(parts.values()), axis=0), kind="stable")[:count]
    found = replace(found, slots=found.slots[best])
    shares = _late(corpus, found, tokens)
    told = ~asks(corpus.rows.has.cells_and_end[corpus.threads.before(found.slots)], Has.ASKS)
    likeness = _likeness(found) | {"late": shares.mixed, "aftermath": -shares.before * told}
    marks = {name: sign[best] for name, sign in marks.items()}
    return replace(found, reach=shares.reach), weighted(likeness | marks, corpus.weights)


def _likeness(found: Candidates) -> dict[str, Floats]:
    context = {arm.name: arm.scores[found.slots] for arm in found.arms if arm.name == "context"}
    return {"lexical": coverage(found), **context}


def coverage(found: Candidates) -> Floats:
    """Return how much of the question's words each candidate has, 0..1."""
    most = sum(found.term_weights.values())
    return found.arms[0].scores[found.slots] / np.float32(max(most, 1e-9))


def _late(corpus: Corpus, found: Candidates, tokens: QueryTokens) -> Interaction:
    return interact(
        corpus.tokens,
        found.slots,
        tokens,
        threads=corpus.threads,
        asking=asks(corpus.rows.has.cells_and_end, Has.ASKS),
        term_weights=found.term_weights,
        weights=corpus.weights,
    )


def best_rows(corpus: Corpus, slots: Slots, fused: Floats) -> NDArray[np.int64]:
    """Return the places of the best row of each message or fact, the best first."""
    numbers = corpus.rows.number.cells[slots]
    order = np.lexsort((-numbers, -fused))
    places: dict[int, int] = {}
    for place, first in enumerate(corpus.rows.first.cells[slots[order]].tolist()):
        places.setdefault(first, place)
    return order[list(places.values())]


FURTHER_DOWN = slice(5, 20)
BY_CHANCE = 0.3
"""The reach of what has nothing to do with a question, where there are too few items to see it."""


def evidence(corpus: Corpus, found: Candidates, best: NDArray[np.int64]) -> Evidence:
    """Return what speaks for the first of the items, which are given best first."""
    first = int(best[0])
    cosines = [float(arm.scores[found.slots[first]]) for arm in found.arms if arm.name == "dense"]
    further = best[FURTHER_DOWN]
    around = None if found.reach is None else float(found.reach[further].mean()) if len(further) else BY_CHANCE
    return Evidence(
        coverage=float(coverage(found)[first]),
        terms=len(found.question.terms),
        cosine=cosines[0] if cosines else None,
        reach=None if found.reach is None else float(found.reach[first]),
        around=around,
        rows=len(corpus) + corpus.others,
        about_talk=found.question.about_talk,
    )


def hits_at(corpus: Corpus, slots: Slots, fused: Floats, likely: Floats) -> list[Hit]:
    """Return the rows of these slots as hits."""
    rows = corpus.rows
    columns = (rows.number.cells[slots], slots, rows.version.cells[slots], rows.kind.cells[slots], likely, fused)
    return [
        Hit(n=n, id=corpus.ids[slot], version=version, kind=KINDS[kind], relevance=relevant, score=score)
        for n, slot, version, kind, relevant, score in zip(*(column.tolist() for column in columns), strict=True)
    ]


def explained(hit: Hit, corpus: Corpus, ranked: Ranked, place: int) -> Hit:
    """Return the hit with the numbers that made its place."""
    return hit._replace(
        arms=arms_of(ranked.found, corpus.slot_of[hit.n]),
        parts={name: float(part[place]) for name, part in ranked.parts.items()},
        evidence={name: float(value) for name, value in asdict(ranked.evidence).items() if value is not None},
    )


def arms_of(found: Candidates, slot: int) -> dict[str, tuple[int, float]]:
    """Return the rank, from 1, and the score of a row in each arm that found it."""
    ranks = {arm.name: np.flatnonzero(arm.found == slot) for arm in found.arms}
    return {
        arm.name: (int(ranks[arm.name][0]) + 1, float(arm.scores[slot])) for arm in found.arms if len(ranks[arm.name])
    }
