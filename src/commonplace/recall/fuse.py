"""From the arms' scores to one number: candidates are the union of the arms, and every score keeps its own scale.

Neither ranks nor z-scores are added up. Reciprocal ranks of a strong and a weak arm lose ten points; z-scores are as
good within one question, but they make the best of nothing look like the best of much, and in a memory of twenty
messages the one that shares half a word looks like a find.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from commonplace.recall.weights import Weights

Floats = NDArray[np.float32]
Slots = NDArray[np.int64]


def top(scores: Floats, mask: NDArray[np.bool_], count: int) -> Slots:
    """Return the slots of the `count` best rows that the mask lets through, the best first."""
    open_ = np.flatnonzero(mask)
    values = scores[open_]
    if len(open_) > count:
        chosen = np.argpartition(-values, count)[:count]
        open_, values = open_[chosen], values[chosen]
    return open_[np.lexsort((open_, -values))]


def union(*arms: Slots) -> Slots:
    return np.unique(np.concatenate(arms))


def weighted(signs: Mapping[str, Floats], weights: Weights) -> dict[str, Floats]:
    """Return what each sign adds to the fused score."""
    return {name: np.float32(getattr(weights, name)) * sign for name, sign in signs.items()}
