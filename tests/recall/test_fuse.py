"""The best rows of an arm, against the plain way to find them."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from commonplace.recall.fuse import top, union

rows = st.lists(st.tuples(st.sampled_from([-1.0, 0.0, 0.25, 0.5, 1.0]), st.booleans()), max_size=30)


@given(rows, st.integers(0, 35))
@settings(max_examples=200, deadline=None)
def test_the_best_rows_are_those_of_a_full_sort_and_equal_ones_come_in_their_order(
    given_: list[tuple[float, bool]], count: int
) -> None:
    scores = np.array([score for score, _ in given_], np.float32)
    mask = np.array([open_ for _, open_ in given_], np.bool_)
    sorted_ = sorted((slot for slot in range(len(given_)) if mask[slot]), key=lambda slot: (-scores[slot], slot))
    assert top(scores, mask, count).tolist() == sorted_[:count]


def test_the_union_has_every_slot_once_in_order() -> None:
    assert union(6, np.array([5, 1]), np.array([1, 2]), np.array([], np.int64)).tolist() == [1, 2, 5]
