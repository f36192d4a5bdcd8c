"""Two pictures of an evaluation: what was found with its interval, and what each part brings."""

from pathlib import Path

import matplotlib

from commonplace.evaluation.report import Evaluation, Report

matplotlib.use("Agg")  # before pyplot: no window is opened, on any machine

from matplotlib import pyplot  # noqa: E402
from matplotlib.axes import Axes  # noqa: E402

LADDER = ("R@10", "hit@1", "MRR")


def draw(evaluation: Evaluation, path: Path) -> None:
    panels = 2 if len(evaluation.reports) > 1 else 1
    picture, places = pyplot.subplots(1, panels, figsize=(7 * panels, 5), squeeze=False)
    _measures(places[0][0], evaluation.reports[0])
    if panels == 2:
        _ladder(places[0][1], evaluation)
    picture.tight_layout()
    picture.savefig(path, dpi=130)
    pyplot.close(picture)


def _measures(place: Axes, report: Report) -> None:
    names = list(report.figures)
    values = [figure.value for figure in report.figures.values()]
    below = [figure.value - figure.low for figure in report.figures.values()]
    above = [figure.high - figure.value for figure in report.figures.values()]
    place.barh(names, values, xerr=[below, above], color="C0", alpha=0.8, capsize=2)
    place.invert_yaxis()
    place.set_xlim(0, 100)
    place.set_xlabel("percent, with 95 % intervals")
    place.set_title(f"{report.questions} questions", fontsize=10)


def _ladder(place: Axes, evaluation: Evaluation) -> None:
    names = [report.without or "nothing" for report in evaluation.reports]
    for number, measure in enumerate(LADDER):
        values = [report.figures[measure].value for report in evaluation.reports]
        place.plot(values, names, marker="o", linestyle="", color=f"C{number}", label=measure)
        place.axvline(values[0], color=f"C{number}", alpha=0.3)
    place.invert_yaxis()
    place.set_xlabel("percent")
    place.set_title("without …", fontsize=10)
    place.grid(visible=True, axis="y", alpha=0.3)
    place.legend(fontsize=8)
