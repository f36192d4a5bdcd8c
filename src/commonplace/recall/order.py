"""The final order: relevance, importance and recency, weighed. Pure arithmetic over what a search found."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log

import numpy as np

from commonplace.recall.calibrate import FAR, THRESHOLD
from commonplace.recall.corpus import KINDS, Corpus, Mask
from commonplace.recall.search import Hit

DAY = 86_400_000_000
"""Microseconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Balance:
    relevance: float = 0.5
    importance: float = 0.3
    recency: float = 0.2
    half_life_days: float = 30.0
    """A thing said so long ago counts half as recent as one said now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighed:
    hit: Hit
    score: float
    importance: float
    recency: float
    passage: int
    """Which passage of its message matched, from 0."""


def in_order(corpus: Corpus, hits: Sequence[Hit], *, balance: Balance, now: int, least: float | None) -> list[Weighed]:
    """Return the hits that are relevant enough, the best first. Equal ones stay in the order of the search.

    `least` is what a caller asks for; None is the calibrated default.
    """
    wanted = _threshold(hits) if least is None else least
    weighed = [_weigh(corpus, hit, balance, now) for hit in hits if hit.relevance >= wanted]
    return sorted(weighed, key=lambda found: -found.score)


def _threshold(hits: Sequence[Hit]) -> float:
    """Nothing if the best answers too seldom; else all that is not hopeless beside it."""
    best = max((hit.relevance for hit in hits), default=0.0)
    return best * FAR if best >= THRESHOLD else 2.0


def recency(at: int, *, now: int, half_life_days: float) -> float:
    """Return 1 for now or later, 0.5 after one half-life, and ever less."""
    return exp(-log(2) * max(0, now - at) / (half_life_days * DAY))


def _weigh(corpus: Corpus, hit: Hit, balance: Balance, now: int) -> Weighed:
    slot = corpus.slot_of[hit.n]
    importance = float(corpus.rows.importance.cells[slot])
    recent = recency(int(corpus.rows.at.cells[slot]), now=now, half_life_days=balance.half_life_days)
    total = balance.relevance + balance.importance + balance.recency
    score = balance.relevance * hit.relevance + balance.importance * importance + balance.recency * recent
    passage = hit.n - int(corpus.rows.first.cells[slot])
    return Weighed(hit=hit, score=score / total, importance=importance, recency=recent, passage=passage)


def latest(corpus: Corpus, mask: Mask, *, balance: Balance, now: int, limit: int) -> list[Weighed]:
    """Return what was said last, the latest first: the answer to an empty query. A message counts once."""
    slots = np.flatnonzero(mask & (corpus.rows.number.cells == corpus.rows.first.cells))
    order = slots[np.lexsort((-corpus.rows.number.cells[slots], -corpus.rows.at.cells[slots]))][:limit]
    hits = [
        Hit(
            n=int(corpus.rows.number.cells[slot]),
            id=corpus.ids[slot],
            version=int(corpus.rows.version.cells[slot]),
            kind=KINDS[corpus.rows.kind.cells[slot]],
            relevance=0.0,
            score=0.0,
        )
        for slot in order
    ]
    return [_weigh(corpus, hit, balance, now) for hit in hits]
