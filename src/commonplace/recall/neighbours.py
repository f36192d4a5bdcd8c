"""The kernel: how much of its neighbours a message takes over, the same for its words and for its tokens.

Answers follow questions ("What kind of programs?" "Basic games."): of 100 simple questions 43 are answered by the
message that matches their words best, and another 27 by the one or two after it.
"""

import numpy as np
from numpy.typing import NDArray

from commonplace.recall.threads import Slots, Threads
from commonplace.recall.weights import Weights

Floats = NDArray[np.float32]


def neighbours(
    slots: Slots, threads: Threads, asking: NDArray[np.bool_], weights: Weights
) -> list[tuple[Floats, Slots]]:
    """Return each kind of neighbour of these rows, with its weight for each. `asking` has one cell more, for nobody."""
    found = []
    near = slots
    for step, weight in enumerate(weights.before):
        near = threads.before(near)
        heavy = asking[near] if step == 0 else np.zeros(len(near), np.bool_)
        found.append((np.where(heavy, weights.before_asking, weight).astype(np.float32), near))
    near = slots
    for weight in weights.after:
        near = threads.after(near)
        found.append((np.full(len(near), weight, np.float32), near))
    return found
