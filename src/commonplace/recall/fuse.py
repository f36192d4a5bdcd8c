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
NO_SCORE = np.float32(-np.inf)


def top(scores: Floats, mask: NDArray[np.bool_], count: int) -> Slots:
    """Return the slots of the `count` best rows that the mask lets through, the best first."""
    least = NO_SCORE
    values = np.where(mask, scores, least)
    if 0 < count < len(values):
        # The value at the edge first: numpy finds it, and then those above it, sooner than the places themselves.
        least = max(least, np.partition(values, len(values) - count)[len(values) - count])
    found = np.flatnonzero(values >= least) if least > NO_SCORE else np.flatnonzero(mask)
    return found[np.argsort(-values[found], kind="stable")][:count]


def union(rows: int, *arms: Slots) -> Slots:
    """Return the slots of all arms, each once, of a corpus with so many rows."""
    there = np.zeros(rows, np.bool_)
    for arm in arms:
        there[arm] = True
    return np.flatnonzero(there)


def weighted(signs: Mapping[str, Floats], weights: Weights) -> dict[str, Floats]:
    """Return what each sign adds to the fused score."""
    return {name: np.float32(getattr(weights, name)) * sign for name, sign in signs.items()}
