"""Facts as lanes of bars: where each bar stands, as shares of the width. A crowded lane is drawn as counts.

A version is shown if it was known at the moment that is looked from; what had been retracted by then is `old`.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from commonplace.domain.values import Fact

CROWDED = 40
"""Bars in a lane beyond which only counts can be read."""
BINS = 60
NARROWEST = 0.004
"""Share of the width that a bar has at least, so that it can be seen and clicked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    as_of: datetime
    kind: str = ""
    text: str = ""
    confidence: float = 0.0

    def known(self, facts: Iterable[Fact]) -> list[Fact]:
        words = self.text.casefold()
        return [
            fact
            for fact in facts
            if fact.recorded_at <= self.as_of
            and (not self.kind or fact.kind == self.kind)
            and fact.confidence >= self.confidence
            and (not words or words in fact.text.casefold())
        ]

    def is_old(self, fact: Fact) -> bool:
        return fact.retracted_at is not None and fact.retracted_at <= self.as_of


@dataclass(frozen=True, slots=True)
class Axis:
    since: datetime
    until: datetime

    def place(self, moment: datetime | None, *, without: float) -> float:
        """Return where a moment is, from 0 to 1."""
        if moment is None:
            return without
        return min(max((moment - self.since) / (self.until - self.since), 0.0), 1.0)


@dataclass(frozen=True, slots=True)
class Bar:
    fact: Fact
    start: float
    width: float
    row: int
    old: bool


@dataclass(frozen=True, slots=True)
class Bin:
    start: float
    width: float
    share: float
    """Of the fullest one."""
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    subject: str
    attribute: str
    facts: int
    bars: tuple[Bar, ...] = ()
    bins: tuple[Bin, ...] = ()

    @property
    def rows(self) -> int:
        return max((bar.row for bar in self.bars), default=0) + 1


Key = tuple[str, str]


def axis_of(facts: Sequence[Fact], now: datetime) -> Axis:
    moments = [now, *(fact.valid_from or fact.said_at for fact in facts)]
    moments += [fact.valid_to for fact in facts if fact.valid_to is not None]
    since, until = min(moments), max(moments)
    margin = max((until - since) * 0.02, timedelta(hours=1))
    return Axis(since - margin, until + margin)


def lanes_of(facts: Iterable[Fact]) -> dict[Key, list[Fact]]:
    """Return the facts of each attribute; the subjects in turn, `user` first."""
    grouped: dict[Key, list[Fact]] = defaultdict(list)
    for fact in facts:
        grouped[fact.subject, fact.attribute].append(fact)
    return {
        key: grouped[key] for key in sorted(grouped, key=lambda key: (key[0] != "user", key[0], not key[1], key[1]))
    }


def lane(key: Key, facts: Sequence[Fact], axis: Axis, seen: Filter) -> Lane:
    subject, attribute = key
    if len(facts) > CROWDED:
        return Lane(subject=subject, attribute=attribute, facts=len(facts), bins=_bins(facts, axis))
    bars = _packed([(fact, *_span(fact, axis), seen.is_old(fact)) for fact in facts])
    return Lane(subject=subject, attribute=attribute, facts=len(facts), bars=bars)


def _span(fact: Fact, axis: Axis) -> tuple[float, float]:
    start = axis.place(fact.valid_from, without=0.0)
    return start, max(axis.place(fact.valid_to, without=1.0), start)


def _packed(spans: Iterable[tuple[Fact, float, float, bool]]) -> tuple[Bar, ...]:
    """Give each bar the first row that is free where it begins; what is believed comes before what is not."""
    ends: list[list[tuple[float, float]]] = []
    bars = []
    for fact, start, stop, old in sorted(spans, key=lambda one: (one[3], one[1])):
        width = max(stop - start, NARROWEST)
        row = next((n for n, taken in enumerate(ends) if _free(taken, start, start + width)), len(ends))
        if row == len(ends):
            ends.append([])
        ends[row].append((start, start + width))
        bars.append(Bar(fact, start, width, row, old))
    return tuple(bars)


def _free(taken: Sequence[tuple[float, float]], start: float, stop: float) -> bool:
    return all(stop <= other_start or start >= other_stop for other_start, other_stop in taken)


def _bins(facts: Sequence[Fact], axis: Axis) -> tuple[Bin, ...]:
    counts = [0] * BINS
    for fact in facts:
        counts[min(int(axis.place(fact.valid_from or fact.said_at, without=0.0) * BINS), BINS - 1)] += 1
    fullest = max(counts)
    return tuple(Bin(n / BINS, 1 / BINS, count / fullest, count) for n, count in enumerate(counts) if count)
