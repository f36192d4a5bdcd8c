"""Who comes before and after whom: the rows of each session in the order in which they were said.

Rows are known by their slot, the place in the columns. A slot of -1 is nobody, and nobody's neighbour is nobody.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from commonplace.recall.growing import Growing

Slots = NDArray[np.int64]
Key = tuple[int, int, int]
"""Moment, number of the message's first row, number of the row."""

NO_SESSION = -1
GAP = 3_600_000_000
"""Messages without a session are neighbours if less than an hour lies between them."""


class Threads:
    def __init__(self) -> None:
        self._previous: Growing[np.int64] = Growing(np.int64, empty=-1)
        self._next: Growing[np.int64] = Growing(np.int64, empty=-1)
        self._order: dict[int, list[tuple[Key, int]]] = {}

    @property
    def nbytes(self) -> int:
        return self._previous.nbytes + self._next.nbytes + 200 * sum(map(len, self._order.values()))

    def grow(self, count: int) -> None:
        """Make room for slots that have no neighbours yet."""
        nobody = np.full(count, -1, np.int64)
        self._previous.append(nobody)
        self._next.append(nobody)

    def insert(self, session: int, rows: Iterable[tuple[Key, int]]) -> None:
        order = self._order.setdefault(session, [])
        for row in sorted(rows):
            place = len(order) if not order or row > order[-1] else bisect_left(order, row)
            order.insert(place, row)
            if place:
                self._link(session, order[place - 1], row)
            if place + 1 < len(order):
                self._link(session, row, order[place + 1])

    def remove(self, session: int, row: tuple[Key, int]) -> None:
        order = self._order[session]
        place = bisect_left(order, row)
        del order[place]
        slot = row[1]
        self._previous.cells[slot] = self._next.cells[slot] = -1
        before = order[place - 1] if place else None
        after = order[place] if place < len(order) else None
        if before and after:
            self._link(session, before, after)
        elif before:
            self._next.cells[before[1]] = -1
        elif after:
            self._previous.cells[after[1]] = -1

    @property
    def previous(self) -> Slots:
        """Of every slot: a view."""
        return self._previous.cells

    @property
    def following(self) -> Slots:
        return self._next.cells

    def before(self, slots: Slots) -> Slots:
        found: Slots = self._previous.cells_and_end[slots]
        return found

    def after(self, slots: Slots) -> Slots:
        found: Slots = self._next.cells_and_end[slots]
        return found

    def around(self, slots: Slots, *, reach: int = 4) -> Slots:
        """Return these slots and all within `reach` of them, each once."""
        there = np.zeros(len(self._previous) + 1, np.bool_)  # the last cell is nobody's
        there[slots] = True
        for step in (self.before, self.after):
            near = slots
            for _ in range(reach):
                near = step(near)
                there[near] = True
        return np.flatnonzero(there[:-1])

    def sessions(self) -> Iterator[tuple[int, Sequence[int]]]:
        for session, order in self._order.items():
            yield session, [slot for _, slot in order]

    def _link(self, session: int, earlier: tuple[Key, int], later: tuple[Key, int]) -> None:
        apart = session == NO_SESSION and later[0][0] - earlier[0][0] > GAP
        self._next.cells[earlier[1]] = -1 if apart else later[1]
        self._previous.cells[later[1]] = -1 if apart else earlier[1]
