"""How much was known at each moment, as points of a line in a box that is 100 wide and 40 high."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

WIDTH, HEIGHT, STEPS = 100.0, 40.0, 50


@dataclass(frozen=True, slots=True)
class Line:
    name: str
    points: str
    """For an SVG polyline."""
    total: int


@dataclass(frozen=True, slots=True)
class Growth:
    since: datetime
    until: datetime
    lines: tuple[Line, ...]


Step = tuple[datetime, int]
"""A moment, and how many came then."""


def growth(series: Mapping[str, Sequence[Step]], *, now: datetime) -> Growth | None:
    """Return one line for each name, on one scale; None where there is nothing yet."""
    moments = [moment for steps in series.values() for moment, number in steps if number]
    if not moments:
        return None
    since, until = min(moments), max(*moments, now)
    totals = {name: sum(number for _, number in steps) for name, steps in series.items()}
    highest = max(totals.values())
    lines = (Line(name, _points(sorted(steps), since, until, highest), totals[name]) for name, steps in series.items())
    return Growth(since, until, tuple(lines))


def _points(steps: Sequence[Step], since: datetime, until: datetime, highest: int) -> str:
    span, place, reached, points = (until - since) / STEPS, 0, 0, []
    for step in range(STEPS + 1):
        while place < len(steps) and (steps[place][0] <= since + span * step or step == STEPS):
            reached += steps[place][1]
            place += 1
        points.append(f"{WIDTH * step / STEPS:.1f},{HEIGHT - HEIGHT * reached / highest:.2f}")
    return " ".join(points)
