"""How cost grows with size, as pictures: both axes in powers of ten, so that a flat line means flat."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import matplotlib

from bench.figures import Figure, Report

matplotlib.use("Agg")  # before pyplot: no window is opened, on any machine

from matplotlib import pyplot  # noqa: E402
from matplotlib.axes import Axes  # noqa: E402

WIDTH, HEIGHT, COLUMNS = 5.2, 4.0, 3


def draw(report: Report, name: Path) -> list[Path]:
    """Write NAME.png and NAME.svg; nothing if the run measured no growth."""
    panels: dict[str, list[Figure]] = defaultdict(list)
    for figure in report.figures():
        if figure.line is not None:
            panels[figure.line].append(figure)
    if not panels:
        return []
    rows = -(-len(panels) // COLUMNS)
    picture, places = pyplot.subplots(
        rows, COLUMNS, figsize=(WIDTH * COLUMNS, HEIGHT * rows), squeeze=False, sharey=True
    )
    colours = _colours(figure.who for figures in panels.values() for figure in figures)
    for place in places.flat[len(panels) :]:
        place.set_visible(False)
    for place, (title, figures) in zip(places.flat, panels.items(), strict=False):
        _panel(place, title, figures, colours)
    picture.tight_layout()
    paths = [name.with_suffix(suffix) for suffix in (".png", ".svg")]
    for path in paths:
        picture.savefig(path, dpi=130)
    pyplot.close(picture)
    return paths


def _panel(place: Axes, title: str, figures: Sequence[Figure], colours: Mapping[str, str]) -> None:
    for who in dict.fromkeys(figure.who for figure in figures):
        points = sorted((figure.at, figure.p10) for figure in figures if figure.who == who and figure.at and figure.p10)
        at, values = zip(*points, strict=True)
        place.loglog(at, values, marker="o", label=who, color=colours[who])
    place.set_title(title, fontsize=10)
    place.set_xlabel("items in all")
    place.set_ylabel("ms, the quickest tenth")
    place.tick_params(labelleft=True)
    place.grid(visible=True, which="major", alpha=0.3)
    place.legend(fontsize=7)


def _colours(names: Iterable[str]) -> dict[str, str]:
    """Return the same colour for the same contestant in every panel."""
    return {who: f"C{number % 10}" for number, who in enumerate(dict.fromkeys(names))}
