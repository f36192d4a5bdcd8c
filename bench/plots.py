"""How cost grows with size, as pictures: both axes in powers of ten, so that a flat line means flat."""

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import matplotlib

from bench.figures import Figure, Report

matplotlib.use("Agg")  # before pyplot: no window is opened, on any machine

from matplotlib import pyplot  # noqa: E402
from matplotlib.axes import Axes  # noqa: E402

WIDTH, HEIGHT = 5.2, 4.2


def draw(report: Report, name: Path) -> list[Path]:
    """Write NAME.png and NAME.svg; nothing if the run measured no growth."""
    lines: dict[str, list[Figure]] = defaultdict(list)
    for figure in report.figures():
        if figure.line is not None:
            lines[figure.line].append(figure)
    if not lines:
        return []
    picture, places = pyplot.subplots(1, len(lines), figsize=(WIDTH * len(lines), HEIGHT), squeeze=False)
    for place, (title, figures) in zip(places[0], lines.items(), strict=True):
        _panel(place, title, figures)
    picture.tight_layout()
    paths = [name.with_suffix(suffix) for suffix in (".png", ".svg")]
    for path in paths:
        picture.savefig(path, dpi=130)
    pyplot.close(picture)
    return paths


def _panel(place: Axes, title: str, figures: Sequence[Figure]) -> None:
    for who in dict.fromkeys(figure.who for figure in figures):
        points = sorted((figure.at, figure.value) for figure in figures if figure.who == who and figure.at is not None)
        place.loglog([at for at, _ in points], [value for _, value in points], marker="o", label=who)
    place.set_title(title, fontsize=10)
    place.set_xlabel("items")
    place.set_ylabel("ms, median")
    place.grid(visible=True, which="major", alpha=0.3)
    place.legend(fontsize=7)
