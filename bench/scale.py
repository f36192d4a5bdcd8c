"""How much of everything: the full run, a quick one, and one so small that a test can make it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bench.material import Material, Question
from bench.timing import Effort

RESERVE = 2_000
"""Items beyond those that fill the stores, to be written while time is taken."""
WARM = 5
"""Turns that are not counted."""
PRIME = 7_919
"""A step that visits items in no order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    name: str
    totals: tuple[int, ...]
    """Items in all: the stores grow from each of these to the next."""
    users: tuple[int, ...]
    """Ways to divide the same items among users."""
    sizes: tuple[int, ...]
    """Items of the one user whose partition grows large."""
    items: int
    """Items for start and size: one user's."""
    stages: tuple[int, ...]
    """Items of the one user whose recall is taken apart."""
    effort: Effort
    dimensions: int = 384
    starts: int = 8
    """How often each process is started, after a first time that is not counted."""
    copied: tuple[int, ...] = ()
    """Items in all of a PostgreSQL server after that: those of users who are not asked about are copied there."""
    model: bool = True
    """Whether to start the local model, too."""


FULL = Scale(
    name="full",
    totals=(1_000, 10_000, 100_000),
    users=(1, 100, 10_000),
    sizes=(5_000, 20_000, 50_000, 100_000),
    items=10_000,
    stages=(1_000, 20_000),
    effort=Effort(rounds=100, seconds=4),
)
QUICK = Scale(
    name="quick",
    totals=(1_000, 10_000),
    users=(1, 10, 1_000),
    sizes=(2_000, 5_000),
    items=2_000,
    stages=(1_000,),
    effort=Effort(rounds=40, seconds=0.6),
    starts=2,
)
MILLION = replace(FULL, name="million", totals=(10_000, 100_000), copied=(1_000_000,))
TINY = Scale(
    name="tiny",
    totals=(40, 120),
    users=(1, 8),
    sizes=(60, 120),
    items=60,
    stages=(30, 60),
    effort=Effort(rounds=2, seconds=1),
    copied=(240,),
    dimensions=16,
    starts=1,
    model=False,
)


@dataclass(slots=True, kw_only=True)
class Bench:
    """What every section works with."""

    scale: Scale
    folder: Path
    material: Material
    say: Callable[[str], None]
    """Tells whoever waits what is going on."""

    def asked(self, about: Sequence[int], count: int | None = None) -> list[Question]:
        """Return questions about these items, made up beforehand: enough for every turn, unless a count is given."""
        wanted = WARM + self.scale.effort.rounds if count is None else count
        return [self.material.ask(about[PRIME * turn % len(about)]) for turn in range(wanted)]


def material_for(scale: Scale) -> Material:
    most = max(*scale.totals, *scale.sizes, *scale.stages, scale.items)
    return Material(items=most + RESERVE, dimensions=scale.dimensions)
