"""What is counted, with how far chance alone may move it: 95 % intervals by drawing the questions again."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

BUDGETS = (500, 1_000, 2_000, 4_000)
DRAWS = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One question that has an answer, and what came back for it."""

    gold: frozenset[str]
    ranked: tuple[str, ...]
    category: str
    sessions: Mapping[str, str] = field(default_factory=dict)
    """Of each message, the session it belongs to."""
    within: Mapping[int, frozenset[str]] = field(default_factory=dict)
    """What fits into each budget of tokens."""


@dataclass(frozen=True, slots=True)
class Figure:
    value: float
    low: float
    high: float


def recall_at(outcome: Outcome, count: int) -> float:
    return len(outcome.gold & set(outcome.ranked[:count])) / len(outcome.gold)


def all_at(outcome: Outcome, count: int) -> float:
    return float(outcome.gold <= set(outcome.ranked[:count]))


def hit(outcome: Outcome) -> float:
    return float(bool(outcome.ranked) and outcome.ranked[0] in outcome.gold)


def reciprocal_rank(outcome: Outcome) -> float:
    return next((1 / rank for rank, found in enumerate(outcome.ranked, 1) if found in outcome.gold), 0.0)


def session_recall(outcome: Outcome, count: int) -> float:
    wanted = {outcome.sessions[each] for each in outcome.gold}
    found = list(dict.fromkeys(outcome.sessions[each] for each in outcome.ranked))[:count]
    return len(wanted & set(found)) / len(wanted)


MEASURES: Mapping[str, Callable[[Outcome], float]] = {
    "R@1": lambda outcome: recall_at(outcome, 1),
    "R@5": lambda outcome: recall_at(outcome, 5),
    "R@10": lambda outcome: recall_at(outcome, 10),
    "R@20": lambda outcome: recall_at(outcome, 20),
    "all@10": lambda outcome: all_at(outcome, 10),
    "hit@1": hit,
    "MRR": reciprocal_rank,
    "sessions@5": lambda outcome: session_recall(outcome, 5),
    **{
        f"within {budget}": lambda outcome, budget=budget: (  # type: ignore[misc]
            len(outcome.gold & outcome.within.get(budget, frozenset())) / len(outcome.gold)
        )
        for budget in BUDGETS
    },
}


def figures(outcomes: Sequence[Outcome]) -> dict[str, Figure]:
    """Return every measure in percent."""
    table = np.array([[measure(outcome) for measure in MEASURES.values()] for outcome in outcomes])
    draw = np.random.default_rng(1)
    means = np.array([table[draw.integers(len(table), size=len(table))].mean(axis=0) for _ in range(DRAWS)])
    low, high = np.percentile(means, [2.5, 97.5], axis=0)
    return {
        name: Figure(*(round(100 * float(value), 1) for value in (table[:, column].mean(), low[column], high[column])))
        for column, name in enumerate(MEASURES)
    }


def by_category(outcomes: Sequence[Outcome]) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for category in sorted({outcome.category for outcome in outcomes}):
        mine = [outcome for outcome in outcomes if outcome.category == category]
        rates = {
            name: round(100 * float(np.mean([MEASURES[name](outcome) for outcome in mine])), 1)
            for name in ("R@10", "hit@1", "MRR")
        }
        found[category] = {"questions": len(mine), **rates}
    return found


def auroc(answered: Sequence[float], foreign: Sequence[float]) -> float | None:
    """Return how often a question with an answer gets more relevance than one without, ties counting half."""
    if not answered or not foreign:
        return None
    ours, theirs = np.array(answered)[:, None], np.array(foreign)[None, :]
    return round(float((ours > theirs).mean() + 0.5 * (ours == theirs).mean()), 3)
