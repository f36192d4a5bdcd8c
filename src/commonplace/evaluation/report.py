"""The figures of a run as one value: written as JSON, read again, and compared."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Self

import numpy as np

from commonplace.domain.errors import InvalidInput
from commonplace.evaluation.asking import Run
from commonplace.evaluation.metrics import Figure, auroc, by_category, figures


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """One run over every question. Rates are in percent, AUROC is a share of 1."""

    without: str | None
    questions: int
    foreign: int
    figures: dict[str, Figure]
    categories: dict[str, dict[str, float]]
    auroc: Figure | None
    silent: float | None
    """How many questions with an answer got nothing, in percent …"""
    refused: float | None
    """… and how many of those without."""
    milliseconds: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """A whole evaluation: what it was run on, and a report for each thing that was left out."""

    started: str
    data: list[str]
    conversations: int
    messages: int
    embedder: str
    merged: bool
    reports: list[Report]

    def write(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(asdict(self), indent=1) + "\n", encoding="utf-8")

    @classmethod
    def read(cls, path: Path) -> Self:
        try:
            fields = json.loads(path.read_text(encoding="utf-8"))
            fields["reports"] = [_report(each) for each in fields["reports"]]
            return cls(**fields)
        except OSError as error:
            raise InvalidInput(f"{path}: cannot be read: {error.strerror}") from error
        except (ValueError, TypeError, KeyError) as error:
            raise InvalidInput(f"{path}: expected the JSON of an earlier run: {error}") from error


def _report(fields: dict[str, object]) -> Report:
    measured, abstention = fields.pop("figures"), fields.pop("auroc")
    if not isinstance(measured, dict):
        raise TypeError("no figures")
    return Report(
        figures={name: Figure(**figure) for name, figure in measured.items()},
        auroc=Figure(**abstention) if isinstance(abstention, dict) else None,
        **fields,  # type: ignore[arg-type]  # a file that does not fit is refused by the caller
    )


def report_of(run: Run, *, without: str | None) -> Report:
    return Report(
        without=without,
        questions=len(run.outcomes),
        foreign=len(run.foreign),
        figures=figures(run.outcomes),
        categories=by_category(run.outcomes),
        auroc=auroc(run.answered, run.foreign),
        silent=_percent(run.silent),
        refused=_percent(run.refused),
        milliseconds=_times(run.milliseconds),
    )


def _percent(answers: Sequence[bool]) -> float | None:
    return round(100 * float(np.mean(answers)), 1) if answers else None


def _times(milliseconds: Sequence[float]) -> dict[str, float]:
    if not milliseconds:
        return {}
    return {f"p{share}": round(float(np.percentile(milliseconds, share)), 2) for share in (10, 50, 95)}


@dataclass(frozen=True, slots=True)
class Change:
    without: str | None
    measure: str
    old: Figure
    new: Figure

    @property
    def beyond_chance(self) -> bool:
        """Whether neither interval holds the other's value: a hint, since the same questions were asked."""
        return not (self.old.low <= self.new.value <= self.old.high or self.new.low <= self.old.value <= self.new.high)


def changes(old: Evaluation, new: Evaluation) -> list[Change]:
    """Return every measure that both have, for the same things left out."""
    before = {report.without: report for report in old.reports}
    found = []
    for report in new.reports:
        if (earlier := before.get(report.without)) is None:
            continue
        pairs = {name: (earlier.figures.get(name), figure) for name, figure in report.figures.items()}
        pairs["AUROC"] = (earlier.auroc, report.auroc) if report.auroc else (None, Figure(0, 0, 0))
        found += [Change(report.without, name, was, now) for name, (was, now) in pairs.items() if was and now]
    return found
