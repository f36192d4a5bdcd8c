"""Figures as tables for people."""

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table

from bench.figures import Figure, Report, Section


def show(console: Console, section: Section) -> None:
    times = [figure for figure in section.figures if figure.unit == "ms"]
    others = [figure for figure in section.figures if figure.unit != "ms"]
    console.print(f"\n[bold]{section.title}[/bold]")
    if times:
        console.print(_table(times, ("ms p10", "p50", "p95"), _milliseconds))
    if others:
        console.print(_table(others, ("", "by p10", "goal"), _value))
    for note in section.notes:
        console.print(f"  {note}", style="dim")


def _table(figures: Sequence[Figure], columns: Iterable[str], cells: object) -> Table:
    assert callable(cells)
    table = Table("case", "", box=None, pad_edge=True)
    for column in columns:
        table.add_column(column, justify="right")
    case = ""
    for figure in figures:
        table.add_row(figure.case if figure.case != case else "", figure.who, *cells(figure))
        case = figure.case
    return table


def _milliseconds(figure: Figure) -> tuple[str, str, str]:
    return _short(figure.p10), _short(figure.value), _short(figure.p95)


def _value(figure: Figure) -> tuple[str, str, str]:
    return spelled(figure, figure.value), "" if figure.p10 is None else spelled(figure, figure.p10), _judged(figure)


def _judged(figure: Figure) -> str:
    if figure.goal is None:
        return ""
    met = figure.goal.met(figure.value)
    return f"[{'green' if met else 'red'}]{figure.goal}, {'met' if met else 'missed'}[/]"


def spelled(figure: Figure, value: float) -> str:
    match figure.unit:
        case "ms":
            return f"{_short(value)} ms"
        case "x":
            return f"{_short(value)}x"
        case "bytes":
            return f"{value:,.0f} B"
        case "items":
            return f"{value:.1f}"
        case "share":
            return f"{value:.3f}"


def _short(value: float | None) -> str:
    if value is None:
        return ""
    return (
        f"{value:,.0f}"
        if value >= 100
        else f"{value:.1f}"
        if value >= 10
        else f"{value:.2f}"
        if value >= 0.1
        else f"{value:.3f}"
    )


def show_goals(console: Console, report: Report) -> None:
    table = Table("what must hold", "", "measured", "by p10", "goal", title="\nGoals", box=None)
    for figure in report.figures():
        if figure.goal is not None:
            table.add_row(f"{figure.section}: {figure.case}", figure.who, *_value(figure))
    if table.row_count:
        console.print(table)


def show_change(console: Console, old: Report, new: Report) -> None:
    """Print what both runs measured, with the new value as a multiple of the old."""
    before = {figure.key: figure for figure in old.figures()}
    table = Table("section", "case", "", f"{old.started[:16]}", f"{new.started[:16]}", "new / old", box=None)
    for figure in new.figures():
        known = before.get(figure.key)
        if known is not None:
            change = f"{figure.value / known.value:.2f}" if known.value else ""
            table.add_row(
                figure.section,
                figure.case,
                figure.who,
                spelled(known, known.value),
                spelled(figure, figure.value),
                change,
            )
    console.print("\n[bold]Compared with the older run[/bold]")
    console.print(table)
