"""The final order: relevance, importance and recency, weighed. Pure arithmetic over what a search found."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from commonplace.recall.calibrate import FAR, THRESHOLD
from commonplace.recall.corpus import Corpus, Mask
from commonplace.recall.search import Hit, hits_at

DAY = 86_400_000_000
"""Microseconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Balance:
    relevance: float = 0.5
    importance: float = 0.3
    recency: float = 0.2
    half_life_days: float = 30.0
    """A thing said so long ago counts half as recent as one said now."""


class Weighed(NamedTuple):
    hit: Hit
    score: float
    importance: float
    recency: float
    passage: int
    """Which passage of its message matched, from 0."""
    rerank: tuple[int, float] | None = None
    """Its rank, from 1, and its score by a reranker."""


def in_order(corpus: Corpus, hits: Sequence[Hit], *, balance: Balance, now: int, least: float | None) -> list[Weighed]:
    """Return the hits that are relevant enough, the best first. Equal ones stay in the order of the search.

    `least` is what a caller asks for; None is the calibrated default.
    """
    wanted = threshold(hits) if least is None else least
    weighed = weigh(corpus, [hit for hit in hits if hit.relevance >= wanted], balance, now)
    return sorted(weighed, key=lambda found: -found.score)


NOTHING = 2.0
"""A threshold that nothing reaches."""


def threshold(hits: Sequence[Hit]) -> float:
    """Nothing if the best answers too seldom; else all that is not hopeless beside it."""
    best = max((hit.relevance for hit in hits), default=0.0)
    return best * FAR if best >= THRESHOLD else NOTHING


def recency(at: NDArray[np.int64], *, now: int, half_life_days: float) -> NDArray[np.float64]:
    """Return 1 for now or later, 0.5 after one half-life, and ever less."""
    recent: NDArray[np.float64] = np.exp2(-np.maximum(0, now - at) / (half_life_days * DAY))
    return recent


def weigh(corpus: Corpus, hits: Sequence[Hit], balance: Balance, now: int) -> list[Weighed]:
    """Return the hits with their scores, in the same order."""
    slots = np.array([corpus.slot_of[hit.n] for hit in hits], np.int64)
    importance = corpus.rows.importance.cells[slots].astype(np.float64)
    recent = recency(corpus.rows.at.cells[slots], now=now, half_life_days=balance.half_life_days)
    likely = np.array([hit.relevance for hit in hits], np.float64)
    total = balance.relevance + balance.importance + balance.recency
    score = (balance.relevance * likely + balance.importance * importance + balance.recency * recent) / total
    passage = corpus.rows.number.cells[slots] - corpus.rows.first.cells[slots]
    return [
        Weighed(hit=hit, score=one, importance=weight, recency=late, passage=place)
        for hit, one, weight, late, place in zip(
            hits, score.tolist(), importance.tolist(), recent.tolist(), passage.tolist(), strict=True
        )
    ]


def reranked(weighed: Sequence[Weighed], scores: Sequence[float], *, balance: Balance) -> list[Weighed]:
    """Return the first of the items, one for each score, in a new order, and the others after them as they were.

    A reranker knows which of two texts answers better, but every model has a scale of its own. So the relevances stay
    as they were calibrated, and are dealt out anew: the largest goes to the text that the reranker likes best.
    """
    count = len(scores)
    by_score = sorted(range(count), key=lambda place: -scores[place])
    likely = sorted((found.hit.relevance for found in weighed[:count]), reverse=True)
    total = balance.relevance + balance.importance + balance.recency
    dealt = [
        weighed[place]._replace(
            hit=weighed[place].hit._replace(relevance=relevant),
            score=weighed[place].score + balance.relevance * (relevant - weighed[place].hit.relevance) / total,
            rerank=(rank, scores[place]),
        )
        for rank, (place, relevant) in enumerate(zip(by_score, likely, strict=True), 1)
    ]
    return [*sorted(dealt, key=lambda found: -found.score), *weighed[count:]]


def latest(corpus: Corpus, mask: Mask, *, balance: Balance, now: int, limit: int) -> list[Weighed]:
    """Return what was said last, the latest first: the answer to an empty query. A message counts once."""
    slots = np.flatnonzero(mask & (corpus.rows.number.cells == corpus.rows.first.cells))
    order = slots[np.lexsort((-corpus.rows.number.cells[slots], -corpus.rows.at.cells[slots]))][:limit]
    nothing = np.zeros(len(order), np.float32)
    hits = hits_at(corpus, order, nothing, nothing)
    return weigh(corpus, hits, balance, now)
