"""The dense arm: exact cosines against every row's vector, and their mix with the neighbours'."""

import numpy as np
from numpy.typing import NDArray

from commonplace.domain.errors import Overtaken
from commonplace.recall.growing import Growing
from commonplace.recall.threads import Threads
from commonplace.recall.weights import Weights

Floats = NDArray[np.float32]


class Dense:
    """The vectors of a partition. A row without one gets the lowest score there is."""

    def __init__(self, dimensions: int) -> None:
        self._vectors: Growing[np.float32] = Growing(np.float32, width=dimensions)
        self._there: Growing[np.bool_] = Growing(np.bool_)
        self._dimensions = dimensions

    @property
    def nbytes(self) -> int:
        return self._vectors.nbytes + self._there.nbytes

    def append(self, vectors: list[bytes | None]) -> None:
        there = np.array([vector is not None for vector in vectors], np.bool_)
        empty = bytes(4 * self._dimensions)
        if any(vector is not None and len(vector) != len(empty) for vector in vectors):
            raise Overtaken("the vectors are of another model by now")
        held = np.frombuffer(b"".join(vector or empty for vector in vectors), np.float32)
        self._vectors.append(held.reshape(len(vectors), self._dimensions))
        self._there.append(there)

    def score(self, vector: Floats) -> Floats:
        """Return the cosine of every row."""
        # Row by row: BLAS would share out the product, and on a busy machine wait for its other thread.
        cosines: Floats = np.vecdot(self._vectors.cells, vector)
        there = self._there.cells
        if not there.all():
            cosines[~there] = cosines[there].min() if there.any() else 0
        return cosines


BEHIND = 0.05


def filled(hits: dict[int, float], count: int) -> Floats:
    """Return a score for every row when only the nearest are known: the others are a little behind the farthest."""
    scores = np.full(count, min(hits.values(), default=BEHIND) - BEHIND, np.float32)
    scores[list(hits.keys())] = list(hits.values())
    return scores


def smoothed(cosines: Floats, threads: Threads, weights: Weights) -> Floats:
    """Mix each row's cosine with its neighbours'; a missing neighbour counts as the average row."""
    padded = np.append(cosines, np.float32(cosines.mean()) if len(cosines) else np.float32(0))
    total = cosines.copy()
    for first, step, parts in (
        (threads.previous, threads.before, weights.dense_before),
        (threads.following, threads.after, weights.dense_after),
    ):
        near = first
        for place, weight in enumerate(parts):
            near = step(near) if place else first
            total += np.float32(weight) * padded[near]
    return total
