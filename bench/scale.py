"""How much of everything: the full run, a quick one, and one so small that a test can make it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from bench.material import Material
from bench.timing import Effort


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
    """Items for start, size and stages: one user's."""
    effort: Effort
    dimensions: int = 384
    starts: int = 8
    """How often each process is started, after a first time that is not counted."""
    model: bool = True
    """Whether to start the local model, too."""


FULL = Scale(
    name="full",
    totals=(1_000, 10_000, 100_000),
    users=(1, 100, 10_000),
    sizes=(5_000, 10_000, 20_000, 50_000, 100_000),
    items=10_000,
    effort=Effort(rounds=100, seconds=5),
)
QUICK = Scale(
    name="quick",
    totals=(1_000, 10_000),
    users=(1, 10, 1_000),
    sizes=(2_000, 5_000),
    items=2_000,
    effort=Effort(rounds=40, seconds=1),
    starts=3,
)
TINY = Scale(
    name="tiny",
    totals=(40, 120),
    users=(1, 8),
    sizes=(60, 120),
    items=60,
    effort=Effort(rounds=2, seconds=1, least=1),
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
    _numbers: Iterator[int] = field(init=False)

    def __post_init__(self) -> None:
        self._numbers = iter(range(10**9))

    def question(self) -> int:
        """Return the number of a question not asked yet: an answer must not come from a cache of vectors."""
        return next(self._numbers) % len(self.material.questions)


def material_for(scale: Scale) -> Material:
    reserve = 2_000 if scale is not TINY else 200
    most = max(*scale.totals, *scale.sizes, scale.items)
    return Material(items=most + reserve, questions=min(8_000, most), dimensions=scale.dimensions)
