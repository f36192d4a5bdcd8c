"""What became of one item in a search: which filters leave it out, who found it, and how far it came."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from commonplace.recall.corpus import Corpus, Filters
from commonplace.recall.order import Balance, Weighed, weigh
from commonplace.recall.search import Ranked, arms_of, explained, hits_at

NARROWING = {"kinds": "kinds", "sessions": "session", "during": "during", "where": "where", "agent": "agent"}
"""The filters beside those of time, and the arguments that they come from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    rank: int
    """Among the candidates, from 1, by the fused score."""
    of: int
    """How many of them there were."""
    best: float
    """The relevance of the first of them."""
    found: Weighed | None
    """Its numbers; None for one that was not compared token by token, being too far behind."""
    arms: dict[str, tuple[int, float]]


def look_for(corpus: Corpus, ranked: Ranked, item: str, *, balance: Balance, now: int) -> Trace | None:
    """Return how far an item came; None if no arm found it."""
    mine, best = set(slots_of(corpus, item)), float(ranked.likely.max())
    for rank, place in enumerate(ranked.order.tolist(), 1):
        slot = int(ranked.found.slots[place])
        if slot in mine:
            one = np.array([place])
            (hit,) = hits_at(corpus, ranked.found.slots[one], ranked.fused[one], ranked.likely[one])
            (found,) = weigh(corpus, [explained(hit, corpus, ranked, place)], balance, now)
            return Trace(rank=rank, of=len(ranked.order), best=best, found=found, arms=dict(found.hit.arms))
    behind = [slot for slot in ranked.every.slots.tolist() if slot in mine]
    if not behind:
        return None
    arms = arms_of(ranked.every, behind[0])
    return Trace(rank=len(ranked.order) + 1, of=len(ranked.every.slots), best=best, found=None, arms=arms)


def slots_of(corpus: Corpus, item: str) -> Sequence[int]:
    """Return the live rows of a message or fact: its passages, or its versions."""
    return [slot for slot in corpus.slot_of.values() if corpus.ids[slot] == item]


def in_time(corpus: Corpus, item: str, filters: Filters) -> bool:
    """Return whether any row of an item holds, is known and has not expired at the moments that are asked about."""
    return _passes(corpus, item, Filters(now=filters.now, valid_at=filters.valid_at, as_of=filters.as_of))


def leaving_out(corpus: Corpus, item: str, filters: Filters) -> tuple[str, ...]:
    """Return the arguments by which an item is left out that would be there in time."""
    timely = Filters(now=filters.now, valid_at=filters.valid_at, as_of=filters.as_of)
    return tuple(
        argument
        for name, argument in NARROWING.items()
        if getattr(filters, name) is not None
        and not _passes(corpus, item, replace(timely, **{name: getattr(filters, name)}))
    )


def _passes(corpus: Corpus, item: str, filters: Filters) -> bool:
    mask = corpus.mask(filters)
    return any(mask[slot] for slot in slots_of(corpus, item))
