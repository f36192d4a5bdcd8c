"""`python -m bench`: measure against raw Chroma and against the least that each job can cost, in one run."""

import argparse
import asyncio
import os
import platform
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path

from rich.console import Console

from bench import screen
from bench.figures import Report, Section
from bench.scale import FULL, MILLION, QUICK, TINY, Bench, Scale, material_for

RESULTS = Path(__file__).parent / "results"
SECTIONS = ("write", "search", "start", "size", "stages", "tokens", "large", "chat")
ON_DEMAND = ("postgres",)
"""Sections that a run has only when they are named: they need servers."""
SCALES: Mapping[str, Scale] = {scale.name: scale for scale in (FULL, MILLION, QUICK, TINY)}

Run = Callable[[Bench], Awaitable[Section]]


def main(arguments: Sequence[str] | None = None) -> int:
    wanted = _parser().parse_args(arguments)
    console = Console(width=None if sys.stdout.isatty() else 140)
    report = asyncio.run(
        measure(
            SCALES[wanted.scale],
            wanted.only,
            console=console,
            parent=wanted.folder,
            done=lambda so_far: so_far.write(wanted.results / f"{so_far.name}.json"),
        )
    )
    screen.show_goals(console, report)
    if wanted.compare:
        screen.show_change(console, Report.read(wanted.compare), report)
    console.print("\nWritten:", *(str(path) for path in save(report, wanted.results)), soft_wrap=True)
    return 0


async def measure(
    scale: Scale,
    sections: Sequence[str],
    *,
    console: Console,
    parent: Path | None = None,
    done: Callable[[Report], None] = lambda _: None,
) -> Report:
    """Run the sections one after the other. Nothing is left on the disk.

    Each is shown, and `done` told of all there is so far, as soon as it is there: a long run that breaks is not lost.
    """
    clock = time.perf_counter()
    report = Report(
        started=datetime.now(UTC).isoformat(timespec="seconds"),
        scale=scale.name,
        machine=f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}, Python {platform.python_version()}",
        seconds=0,
        sections=(),
    )
    with (
        tempfile.TemporaryDirectory(prefix="commonplace-bench-", dir=parent) as folder,
        console.status("making up messages") as status,
    ):
        bench = Bench(scale=scale, folder=Path(folder), material=material_for(scale), say=status.update)
        for name in sections:
            run: Run = import_module(f"bench.{name}").run
            section = await run(bench)
            screen.show(console, section)
            report = replace(report, seconds=time.perf_counter() - clock, sections=(*report.sections, section))
            done(report)
    return report


def save(report: Report, folder: Path) -> list[Path]:
    """Write the figures as JSON and the growth of cost as pictures."""
    figures = folder / f"{report.name}.json"
    report.write(figures)
    return [figures, *import_module("bench.plots").draw(report, folder / report.name)]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument(
        "--quick", dest="scale", action="store_const", const="quick", default="full", help="under a minute"
    )
    parser.add_argument(
        "--scale", dest="scale", choices=SCALES, help="by name: million is for postgres, tiny for tests"
    )
    parser.add_argument("--only", type=_sections, default=SECTIONS, help=f"some of {','.join(SECTIONS + ON_DEMAND)}")
    parser.add_argument("--compare", type=Path, metavar="OLD.json", help="also show what has changed since that run")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where to write the figures and plots")
    parser.add_argument("--folder", type=Path, help="where to make the temporary stores: on the disk to be measured")
    return parser


def _sections(text: str) -> tuple[str, ...]:
    names = tuple(text.split(","))
    if unknown := set(names) - {*SECTIONS, *ON_DEMAND}:
        known = ",".join(SECTIONS + ON_DEMAND)
        raise argparse.ArgumentTypeError(f"{', '.join(sorted(unknown))}: expected some of {known}")
    return names


if __name__ == "__main__":
    sys.exit(main())
