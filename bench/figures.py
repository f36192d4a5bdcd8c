"""What a run found, as plain values that go to the screen, into a file, and back from one."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal, Self

from bench.timing import Times

Unit = Literal["ms", "x", "bytes", "share", "items"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    at_least: float | None = None
    at_most: float | None = None

    def met(self, value: float) -> bool:
        return (self.at_least is None or value >= self.at_least) and (self.at_most is None or value <= self.at_most)

    def __str__(self) -> str:
        return f">= {self.at_least:g}" if self.at_least is not None else f"<= {self.at_most:g}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One number, with what it is about. Of a time, `value` is the median."""

    section: str
    case: str
    who: str
    value: float
    unit: Unit = "ms"
    p10: float | None = None
    p95: float | None = None
    goal: Goal | None = None
    line: str | None = None
    """The plot it belongs to …"""
    at: float | None = None
    """… and how many items there were."""

    @property
    def key(self) -> tuple[str, str, str, str]:
        return self.section, self.case, self.who, self.unit


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    name: str
    title: str
    figures: tuple[Figure, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    started: str
    scale: str
    machine: str
    seconds: float
    sections: tuple[Section, ...]

    @property
    def name(self) -> str:
        """When and what: the name of its files."""
        return f"{self.started[:19].replace(':', '')}-{self.scale}"

    def figures(self) -> Iterable[Figure]:
        return (figure for section in self.sections for figure in section.figures)

    def write(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(asdict(self), indent=1), "utf-8")

    @classmethod
    def read(cls, path: Path) -> Self:
        held = json.loads(path.read_text("utf-8"))
        sections = tuple(
            Section(**{**section, "figures": tuple(map(_figure, section["figures"])), "notes": tuple(section["notes"])})
            for section in held.pop("sections")
        )
        return cls(**held, sections=sections)


def _figure(held: dict[str, object]) -> Figure:
    goal = held.pop("goal")
    return Figure(**held, goal=Goal(**goal) if isinstance(goal, dict) else None)  # type: ignore[arg-type]  # as written above


def timed(
    section: str, case: str, times: dict[str, Times], *, line: str | None = None, at: float | None = None
) -> list[Figure]:
    """Return one figure for each contestant of a case."""
    return [
        Figure(section=section, case=case, who=who, value=t.p50, p10=t.p10, p95=t.p95, line=line, at=at)
        for who, t in times.items()
    ]


def faster(
    section: str, case: str, times: dict[str, Times], who: str, than: str, *, goal: Goal | None = None
) -> Figure:
    """Return how many times faster one contestant is than another, by their medians."""
    return Figure(
        section=section,
        case=case,
        who=f"{who}: times faster than {than}",
        value=times[than].p50 / times[who].p50,
        p10=times[than].p10 / times[who].p10,
        unit="x",
        goal=goal,
    )


def slower(
    section: str, case: str, times: dict[str, Times], who: str, than: str, *, goal: Goal | None = None
) -> Figure:
    """Return how many times longer one contestant takes than another, by their medians."""
    return Figure(
        section=section,
        case=case,
        who=f"{who}: times the time of {than}",
        value=times[who].p50 / times[than].p50,
        p10=times[who].p10 / times[than].p10,
        unit="x",
        goal=goal,
    )
