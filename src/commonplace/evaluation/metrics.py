"""What is counted, with how far chance alone may move it: 95 % intervals by drawing the questions again.

A result stands for the messages it shows: a message for itself, a fact for the messages it was learned from.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

import numpy as np
from numpy.typing import NDArray

BUDGETS = (500, 1_000, 2_000, 4_000)
DRAWS = 1_000
Result = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One question that has an answer, and what came back for it."""

    gold: frozenset[str]
    ranked: tuple[Result, ...]
    """As the default call returns it: at most ten results."""
    deeper: tuple[Result, ...]
    """The same, asked for twenty."""
    category: str
    sessions: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Of each message, the session it belongs to."""
    within: Mapping[int, frozenset[str]] = field(default_factory=dict)
    """What a context shows, for each budget of tokens that was asked for."""


@dataclass(frozen=True, slots=True)
class Figure:
    value: float
    low: float
    high: float


def recall_at(outcome: Outcome, count: int) -> float:
    ranked = outcome.ranked if count <= len(outcome.ranked) or count <= 10 else outcome.deeper
    return len(outcome.gold & set(chain.from_iterable(ranked[:count]))) / len(outcome.gold)


def hit(outcome: Outcome) -> float:
    return float(bool(outcome.ranked) and not outcome.gold.isdisjoint(outcome.ranked[0]))


def reciprocal_rank(outcome: Outcome) -> float:
    ranks = (1 / rank for rank, found in enumerate(outcome.deeper, 1) if not outcome.gold.isdisjoint(found))
    return next(ranks, 0.0)


def session_recall(outcome: Outcome, count: int) -> float:
    wanted = {outcome.sessions[each] for each in outcome.gold}
    found = [outcome.sessions[each] for each in chain.from_iterable(outcome.deeper) if each in outcome.sessions]
    return len(wanted & set(list(dict.fromkeys(found))[:count])) / len(wanted)


def shown_within(outcome: Outcome, budget: int) -> float:
    return len(outcome.gold & outcome.within[budget]) / len(outcome.gold)


Measure = Callable[[Outcome], float]
MEASURES: Mapping[str, Measure] = {
    "R@1": lambda outcome: recall_at(outcome, 1),
    "R@5": lambda outcome: recall_at(outcome, 5),
    "R@10": lambda outcome: recall_at(outcome, 10),
    "R@20": lambda outcome: recall_at(outcome, 20),
    "all@10": lambda outcome: float(recall_at(outcome, 10) == 1),
    "hit@1": hit,
    "MRR": reciprocal_rank,
    "sessions@1": lambda outcome: session_recall(outcome, 1),
    "sessions@5": lambda outcome: session_recall(outcome, 5),
}


def measures(outcomes: Sequence[Outcome]) -> dict[str, Measure]:
    """Return what can be counted: a budget only where it was asked for."""
    budgets = sorted(outcomes[0].within) if outcomes else []
    within: dict[str, Measure] = {
        f"within {budget}": lambda outcome, budget=budget: shown_within(outcome, budget)  # type: ignore[misc]
        for budget in budgets
    }
    return {**MEASURES, **within}


def figures(outcomes: Sequence[Outcome]) -> dict[str, Figure]:
    """Return every measure in percent."""
    if not outcomes:
        return {}
    counted = measures(outcomes)
    table = np.array([[measure(outcome) for measure in counted.values()] for outcome in outcomes])
    draw = np.random.default_rng(1)
    means = np.array([table[draw.integers(len(table), size=len(table))].mean(axis=0) for _ in range(DRAWS)])
    low, high = np.percentile(means, [2.5, 97.5], axis=0)
    return {
        name: Figure(*(round(100 * float(value), 1) for value in (table[:, column].mean(), low[column], high[column])))
        for column, name in enumerate(counted)
    }


def by_category(outcomes: Sequence[Outcome]) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for category in sorted({outcome.category for outcome in outcomes}):
        mine = [outcome for outcome in outcomes if outcome.category == category]
        rates = {
            name: round(100 * float(np.mean([MEASURES[name](outcome) for outcome in mine])), 1)
            for name in ("R@10", "all@10", "hit@1", "MRR")
        }
        found[category] = {"questions": len(mine), **rates}
    return found


def auroc(answered: Sequence[float], foreign: Sequence[float]) -> Figure | None:
    """Return how often a question with an answer gets more relevance than one without, ties counting half."""
    if not answered or not foreign:
        return None
    ours, theirs = np.array(answered), np.array(foreign)
    draw = np.random.default_rng(1)
    drawn = [_above(draw.choice(ours, len(ours)), draw.choice(theirs, len(theirs))) for _ in range(DRAWS)]
    low, high = np.percentile(drawn, [2.5, 97.5])
    return Figure(round(_above(ours, theirs), 3), round(float(low), 3), round(float(high), 3))


def _above(ours: NDArray[np.float64], theirs: NDArray[np.float64]) -> float:
    theirs = np.sort(theirs)
    below, at_most = np.searchsorted(theirs, ours, "left"), np.searchsorted(theirs, ours, "right")
    return float((below + at_most).mean() / (2 * len(theirs)))
