"""From scores to a relevance of 0..1: how likely the question can be answered at all, and then by which item.

Scores only order the items of one search. Whether there is an answer shows in two numbers: how much of the question's
weight in words the best item covers, and how near its vector is. In a small memory little is near by chance, so that
nearness counts for more there; in a large one something always is. `bench/calibration.py` fits the numbers.
"""

from dataclasses import dataclass
from math import exp, log

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    coverage: float = 8.4
    nearness: float = 5.0
    constant: float = -1.55
    by_chance: float = 0.24
    """The cosine that the nearest of 40 rows has to a question about something else."""
    growth: float = 0.163
    """How much more than that it takes for each e-fold of rows, from 40 to 600."""
    gap: float = 2.0
    """An item whose fused score is so far behind the best is 1/e as likely to answer."""


THRESHOLD = 0.2
"""Below this the best item answers too seldom: nothing is returned. It costs 1 % of those that have an answer."""
FAR = exp(-4)
"""An item is not returned when it is so much less likely than the best one."""


def answerable(*, coverage: float, nearest: float | None, rows: int, numbers: Calibration | None = None) -> float:
    """Return how likely it is that the memory can answer. `nearest` is None where there are no vectors."""
    use = numbers or Calibration()
    chance = use.by_chance + use.growth * log(min(max(rows, 40), 600) / 40)
    evidence = use.coverage * coverage + use.constant
    return 1 / (1 + exp(-(evidence if nearest is None else evidence + use.nearness * (nearest - chance))))


def relevance(fused: Floats, *, best: float, numbers: Calibration | None = None) -> Floats:
    """Return the relevance of items by their fused scores, given that of the best one. It keeps their order."""
    use = numbers or Calibration()
    behind = (fused.max() - fused) / np.float32(use.gap)
    likely: Floats = np.float32(best) * np.exp(-behind)
    return likely
