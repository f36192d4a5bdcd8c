"""Neighbours are those of the same session, in the order of saying."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from commonplace.recall.threads import GAP, NO_SESSION, Threads


def neighbours(threads: Threads, slot: int) -> tuple[int, int]:
    place = np.array([slot])
    return int(threads.before(place)[0]), int(threads.after(place)[0])


@given(st.permutations(range(8)), st.sets(st.integers(0, 7), max_size=6))
def test_any_order_of_coming_and_going_gives_the_order_of_saying(coming: list[int], going: set[int]) -> None:
    threads = Threads()
    threads.grow(8)
    for slot in coming:
        threads.insert(0, [((slot * 10, slot, slot), slot)])
    for slot in going:
        threads.remove(0, ((slot * 10, slot, slot), slot))
    left = [slot for slot in range(8) if slot not in going]
    for place, slot in enumerate(left):
        expected = (left[place - 1] if place else -1, left[place + 1] if place + 1 < len(left) else -1)
        assert neighbours(threads, slot) == expected


def test_without_a_session_a_long_silence_parts() -> None:
    threads = Threads()
    threads.grow(3)
    threads.insert(NO_SESSION, [((0, 0, 0), 0), ((GAP, 1, 1), 1), ((2 * GAP + 1, 2, 2), 2)])
    assert neighbours(threads, 1) == (0, -1)


def test_around_reaches_both_ways_and_names_each_once() -> None:
    threads = Threads()
    threads.grow(6)
    threads.insert(0, [((slot, slot, slot), slot) for slot in range(6)])
    assert threads.around(np.array([2, 3]), reach=1).tolist() == [1, 2, 3, 4]
