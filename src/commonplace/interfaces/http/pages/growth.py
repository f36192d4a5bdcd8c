"""How much was known at each moment, as points of a line in a box that is 100 wide and 40 high."""

from collections.abc import Sequence
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


def growth(series: dict[str, Sequence[datetime]], *, now: datetime) -> Growth | None:
    """Return one line for each name, on one scale; None where there is nothing yet."""
    moments = [one for many in series.values() for one in many]
    if not moments:
        return None
    since, until = min(moments), max(*moments, now)
    highest = max(len(many) for many in series.values())
    lines = (Line(name, _points(sorted(many), since, until, highest), len(many)) for name, many in series.items())
    return Growth(since, until, tuple(lines))


def _points(moments: Sequence[datetime], since: datetime, until: datetime, highest: int) -> str:
    span, reached, points = (until - since) / STEPS, 0, []
    for step in range(STEPS + 1):
        while reached < len(moments) and (moments[reached] <= since + span * step or step == STEPS):
            reached += 1
        points.append(f"{WIDTH * step / STEPS:.1f},{HEIGHT - HEIGHT * reached / highest:.2f}")
    return " ".join(points)
