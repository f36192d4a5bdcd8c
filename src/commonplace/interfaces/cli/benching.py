"""`commonplace bench`: what things cost, measured by the repository's benchmarks, and how well recall finds things."""

import asyncio
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

import commonplace
from commonplace.domain.errors import Unavailable
from commonplace.interfaces.cli.options import Everywhere
from commonplace.interfaces.cli.output import Output

if TYPE_CHECKING:
    from commonplace.evaluation.report import Change, Evaluation, Report
    from commonplace.interfaces.cli.screen import Screen


class SpeedUnlessNamed(TyperGroup):
    """`commonplace bench --quick` means `commonplace bench speed --quick`."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        named = args[0] in self.commands
        return super().resolve_command(ctx, args if named else ["speed", *args])


def bench(context: typer.Context) -> int | None:
    """Measure how fast it is, or how well recall finds."""
    return speed(context) if context.invoked_subcommand is None else None


def speed(context: typer.Context) -> int:
    """Run the benchmarks of the repository."""
    root = Path(commonplace.__file__).parents[2]
    if not (root / "bench" / "__main__.py").is_file():
        raise Unavailable("bench: the benchmarks come with the repository, not with the package; run it from a clone")
    return subprocess.run([sys.executable, "-m", "bench", *context.args], cwd=root, check=False).returncode


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """What recall is evaluated on."""

    data: Annotated[
        list[Path], typer.Option("--data", metavar="FILE", help="Conversations with questions; may be repeated.")
    ]
    format: Annotated[str, typer.Option(help="Of the files: jsonl, locomo or chats.")] = "jsonl"
    others: Annotated[
        list[Path] | None, typer.Option(metavar="FILE", help="Messages (jsonl) of the same users that answer nothing.")
    ] = None
    merged: Annotated[bool, typer.Option("--merged", help="All conversations are one user's.")] = False
    learn: Annotated[bool, typer.Option("--learn/--no-learn", help="Learn facts from the messages, by rules.")] = True
    embedder: Annotated[
        str | None, typer.Option(help="local, local:FOLDER, PROVIDER:MODEL, or words: no embedder at all.")
    ] = None
    keep: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Keep the filled memory there, and use it again.", file_okay=False),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """What recall is evaluated without."""

    without: Annotated[
        list[str] | None, typer.Option(metavar="PART", help="Leave a part of recall out; may be repeated.")
    ] = None
    ladder: Annotated[bool, typer.Option("--ladder", help="With all parts, then with each one left out.")] = False


def recall(
    call: Everywhere,
    material: Material,
    left_out: LeftOut,
    compare: Annotated[
        Path | None, typer.Option(metavar="OLD.json", help="Also show what has changed since that run.", dir_okay=False)
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write the figures as JSON and a picture there.", file_okay=False)
    ] = None,
) -> None:
    """Ask questions whose evidence is known, and count what is found."""
    from commonplace.evaluation.report import Evaluation, changes  # these load numpy, which `--help` does without
    from commonplace.evaluation.run import Wanted, evaluate

    output = Output(call)
    old = Evaluation.read(compare) if compare else None
    wanted = Wanted(
        data=material.data,
        form=material.format,
        without=left_out.without or (),
        ladder=left_out.ladder,
        merged=material.merged,
        others=material.others or (),
        learn=material.learn,
        embedder=material.embedder,
        folder=material.keep,
    )
    settings = {name: value for name, value in call.overrides().items() if name != "home"}
    with output.progress() as report:
        new = asyncio.run(evaluate(wanted, settings, report=report))
    changed = changes(old, new) if old else []
    output.answer({"evaluation": new, "changes": changed} if old else new, lambda screen: _tell(screen, new, changed))
    if out:
        _write(new, out, output)


def _write(evaluation: "Evaluation", folder: Path, output: Output) -> None:
    name = f"recall-{evaluation.started[:19].replace(':', '')}"
    figures = folder / f"{name}.json"
    evaluation.write(figures)
    output.note(f"Written: {figures}")
    try:
        from commonplace.evaluation.plot import draw
    except ImportError:
        output.note("No picture: that needs matplotlib: pip install 'commonplace[bench]'")
    else:
        draw(evaluation, folder / f"{name}.png")
        output.note(f"Written: {folder / f'{name}.png'}")


RUNGS = ("R@1", "R@10", "hit@1", "MRR")


def _tell(screen: "Screen", evaluation: "Evaluation", changed: "Sequence[Change]") -> None:
    first = evaluation.reports[0]
    users = "1 user" if evaluation.conversations == 1 else f"{evaluation.conversations} users"
    screen.say(
        f"{evaluation.messages:,} messages of {users}, {first.questions:,} questions with an answer, "
        f"{first.foreign:,} without, {evaluation.embedder}"
    )
    if first.figures:
        _tell_figures(screen, first)
    if len(evaluation.reports) > 1:
        screen.say()
        screen.table(("without", *RUNGS, "AUROC", "ms p50"), [_rung(each) for each in evaluation.reports])
    if changed:
        screen.say("\nWhat has changed (* neither interval holds the other's value)")
        screen.table(("without", "measure", "old", "new", "change"), [_changed(each) for each in changed])


def _tell_figures(screen: "Screen", report: "Report") -> None:
    left_out = f" without {report.without}" if report.without else ""
    rows = [[name, f"{each.value:g}", f"{each.low:g} - {each.high:g}"] for name, each in report.figures.items()]
    if each := report.auroc:
        rows.append(["AUROC", f"{each.value:g}", f"{each.low:g} - {each.high:g}"])
    screen.say()
    screen.table((f"recall{left_out}", "%", "95 % interval"), rows)
    screen.say()
    screen.table(
        ("category", *next(iter(report.categories.values()))),
        [[name, *(f"{value:g}" for value in rates.values())] for name, rates in report.categories.items()],
    )
    screen.say(f"\nNothing is returned for {report.silent:g} % of the questions with an answer", style="dim")
    if report.refused is not None:
        screen.say(f"and for {report.refused:g} % of those without.", style="dim")
    times = ", ".join(f"{name} {value:g}" for name, value in report.milliseconds.items())
    screen.say(f"Milliseconds for one recall, its question embedded already: {times}", style="dim")


def _rung(report: "Report") -> list[str]:
    return [
        report.without or "nothing",
        *(f"{report.figures[name].value:g}" if name in report.figures else "" for name in RUNGS),
        f"{report.auroc.value:g}" if report.auroc else "",
        f"{report.milliseconds.get('p50', 0):g}",
    ]


def _changed(change: "Change") -> list[str]:
    mark = " *" if change.beyond_chance else ""
    return [
        change.without or "nothing",
        change.measure,
        f"{change.old.value:g}",
        f"{change.new.value:g}",
        f"{change.new.value - change.old.value:+.3g}{mark}",
    ]
