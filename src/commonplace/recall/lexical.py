"""The lexical arm: BM25 over a partition's rows, each with the words of its neighbours mixed in.

The postings hold a row's own words only. A question has about ten terms, so the neighbours' share is spread when they
are looked up: as fast as postings of mixed rows, a seventh of their memory, and a new, late, edited or forgotten
message changes no row but its own.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from commonplace.recall.features import Has
from commonplace.recall.growing import Growing
from commonplace.recall.neighbours import neighbours
from commonplace.recall.packed import CAPTION, OWN, Unpacked, asks
from commonplace.recall.threads import Slots, Threads
from commonplace.recall.weights import Weights

Floats = NDArray[np.float32]
Weigh = Callable[[int, float], float]
"""From a term and its idf to its weight in the question."""

_RATIO = 4
"""A segment is merged into the one before it unless that is so much larger: few segments, each row seldom moved."""


class Segment(NamedTuple):
    """Postings sorted by term: whose they are, how often, and how much of it neighbours may share."""

    terms: NDArray[np.uint64]
    slots: NDArray[np.int32]
    counts: Floats
    shared: Floats


class Postings(NamedTuple):
    terms: NDArray[np.int64]
    """Which of the wanted terms it is, by number."""
    slots: Slots
    counts: Floats
    shared: Floats


EMPTY = Segment(np.empty(0, np.uint64), np.empty(0, np.int32), np.empty(0, np.float32), np.empty(0, np.float32))
NOTHING = Postings(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.float32), np.empty(0, np.float32))


class Scored(NamedTuple):
    scores: Floats
    """One for each slot."""
    weights: dict[int, float]
    """Of the question's terms. Their sum is the score of a row that has every term without end."""
    repeats: Floats
    """Which share of its own words each row has in common with the question, 0..1."""


class Lexical:
    def __init__(self, threads: Threads, weights: Weights) -> None:
        self._threads = threads
        self._weights = weights
        self._segments: list[Segment] = []
        self._own: Growing[np.float32] = Growing(np.float32)
        self._shared: Growing[np.float32] = Growing(np.float32)
        self._asks: Growing[np.bool_] = Growing(np.bool_)
        self._mixed: Growing[np.float32] = Growing(np.float32)
        self._live: Growing[np.bool_] = Growing(np.bool_)
        self._saturation: Floats | None = None
        self.known_idf: Mapping[int, float] = {}
        """Of terms, where these rows are a part of a partition and its statistics are known from elsewhere."""

    @property
    def nbytes(self) -> int:
        columns = (self._own, self._shared, self._asks, self._mixed, self._live)
        return sum(a.nbytes for s in self._segments for a in s) + sum(c.nbytes for c in columns)

    def append(self, rows: Unpacked) -> None:
        """Add rows at the end. Call `changed` once the threads know them too."""
        first, count = len(self._own), len(rows.words)
        counts = rows.counts * np.where(rows.section == CAPTION, np.float32(self._weights.caption), np.float32(1))
        shared = counts * ((rows.section == OWN) | (rows.section == CAPTION))
        length = np.bincount(rows.row, shared, count)
        scale = np.minimum(1, self._weights.neighbour_words / np.maximum(length, 1))
        shared = shared * scale[rows.row]
        self._own.append(np.bincount(rows.row, counts, count).astype(np.float32))
        self._shared.append((length * scale).astype(np.float32))
        self._asks.append(asks(rows.has, Has.ASKS))
        self._mixed.append(np.zeros(count, np.float32))
        self._live.append(np.ones(count, np.bool_))
        slots = (rows.row + first).astype(np.int32)
        self._segments.append(_segment(rows.hashes, slots, counts.astype(np.float32), shared.astype(np.float32)))
        while len(self._segments) > 1 and len(self._segments[-2].terms) < _RATIO * len(self._segments[-1].terms):
            self._segments[-2:] = [_merged(self._segments[-2:])]

    def remove(self, slots: Slots) -> None:
        self._live.cells[slots] = False
        self._saturation = None

    def changed(self, slots: Slots) -> None:
        """Measure these rows again, with their neighbours as they are now."""
        length = self._own.cells[slots]
        for weight, near in neighbours(slots, self._threads, self._asks.cells_and_end, self._weights):
            length = length + weight * self._shared.cells_and_end[near]
        self._mixed.cells[slots] = length
        self._saturation = None

    def score(self, terms: list[int], weigh: Weigh) -> Scored:
        """Score every row, dead ones too, against the terms of a question."""
        count = len(self._own)
        live = int(np.count_nonzero(self._live.cells))
        # Arithmetic on every cell is quicker than looking for those that hold something.
        postings = self._lookup(terms)
        table = self._table(postings, len(terms)).reshape(len(terms), count + 1)[:, :count]
        holding = np.count_nonzero(table, axis=1).tolist()
        weights = {
            term: weigh(term, self.known_idf.get(term, idf(live, held)))
            for term, held in zip(terms, holding, strict=True)
        }
        share = table + self._saturations()
        np.divide(table, share, out=share)
        own = np.bincount(postings.slots, postings.shared, count).astype(np.float32)
        repeats: Floats = np.divide(own, np.maximum(self._shared.cells, np.float32(1)), dtype=np.float32)
        return Scored(np.array(list(weights.values()), np.float32) @ share, weights, repeats)

    def _saturations(self) -> Floats:
        if self._saturation is None:
            live = self._mixed.cells[self._live.cells]
            mean = float(live.mean(dtype=np.float64)) if len(live) else 1.0
            b = self._weights.b
            self._saturation = np.float32(self._weights.k1) * (
                1 - b + np.float32(b / max(mean, 1e-9)) * self._mixed.cells
            )
        return self._saturation

    def _lookup(self, terms: list[int]) -> Postings:
        wanted = np.array(terms, np.uint64)
        found = [_found(segment, wanted) for segment in self._segments] or [NOTHING]
        slots = np.concatenate([part.slots for part in found])
        live = self._live.cells[slots]
        return Postings(
            np.concatenate([part.terms for part in found])[live],
            slots[live],
            np.concatenate([part.counts for part in found])[live],
            np.concatenate([part.shared for part in found])[live],
        )

    def _table(self, postings: Postings, terms: int) -> Floats:
        """Return a row of cells for each term, one for each slot and one for nobody: its counts where they belong,
        and their share where the neighbours are."""
        width = len(self._own) + 1
        table = np.zeros(terms * width, np.float32)
        table[postings.terms * width + postings.slots] = postings.counts
        sharing = postings.shared > 0
        rows, slots, shared = postings.terms[sharing] * width, postings.slots[sharing], postings.shared[sharing]
        weights = self._weights
        asking = np.where(self._asks.cells[slots], np.float32(weights.before_asking), np.float32(weights.before[0]))
        # The cell of nobody, -1, is the last one of the row before: nobody's too.
        near = self._threads.after(slots)
        table[rows + near] += shared * asking
        for weight in weights.before[1:]:
            near = self._threads.after(near)
            table[rows + near] += shared * np.float32(weight)
        near = slots
        for weight in weights.after:
            near = self._threads.before(near)
            table[rows + near] += shared * np.float32(weight)
        return table


def idf(rows: int, holding: int) -> float:
    return float(np.log1p((rows - holding + 0.5) / (holding + 0.5)))


def _found(segment: Segment, terms: NDArray[np.uint64]) -> Postings:
    starts = np.searchsorted(segment.terms, terms, "left")
    counts = np.searchsorted(segment.terms, terms, "right") - starts
    ends = np.cumsum(counts)
    places = np.arange(counts.sum()) + np.repeat(starts - ends + counts, counts)
    return Postings(
        np.repeat(np.arange(len(terms)), counts),
        segment.slots[places].astype(np.int64),
        segment.counts[places],
        segment.shared[places],
    )


def _segment(terms: NDArray[np.uint64], slots: NDArray[np.int32], counts: Floats, shared: Floats) -> Segment:
    """Sort postings by term; a term that a row has in two sections becomes one posting."""
    if not len(terms):
        return EMPTY
    order = np.argsort(terms, kind="stable")
    terms, slots, counts, shared = terms[order], slots[order], counts[order], shared[order]
    new = np.ones(len(terms), np.bool_)
    new[1:] = (terms[1:] != terms[:-1]) | (slots[1:] != slots[:-1])
    starts = np.flatnonzero(new)
    return Segment(terms[starts], slots[starts], np.add.reduceat(counts, starts), np.add.reduceat(shared, starts))


def _merged(segments: list[Segment]) -> Segment:
    terms = np.concatenate([segment.terms for segment in segments])
    order = np.argsort(terms, kind="stable")
    return Segment(
        terms[order],
        np.concatenate([segment.slots for segment in segments])[order],
        np.concatenate([segment.counts for segment in segments])[order],
        np.concatenate([segment.shared for segment in segments])[order],
    )
