"""`python -m bench.recall_eval --data FILE --format locomo|chats|jsonl`: how well recall finds what answers."""

import argparse
import asyncio
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bench.recall_eval.data import READERS, merged
from bench.recall_eval.metrics import auroc, by_category, figures
from bench.recall_eval.run import WITHOUT, Run, ask_all, median
from bench.recall_eval.subject import Subject, subjects
from commonplace.settings import Settings
from commonplace.wiring import open_embedder

Report = dict[str, object]


def main(arguments: Sequence[str] | None = None) -> int:
    wanted = _parser().parse_args(arguments)
    console = Console(width=None if sys.stdout.isatty() else 140)
    held = asyncio.run(_subjects(wanted))
    left_out = [None, *WITHOUT] if wanted.ladder else [wanted.without]
    reports = [report(ask_all(held, without=without, now=time.time_ns() // 1000), without) for without in left_out]
    show(console, reports)
    if wanted.compare:
        show(console, json.loads(wanted.compare.read_text(encoding="utf-8")), title=str(wanted.compare))
    if wanted.json:
        wanted.json.write_text(json.dumps(reports, indent=1), encoding="utf-8")
    return 0


async def _subjects(wanted: argparse.Namespace) -> list[Subject]:
    conversations = [each for path in wanted.data for each in READERS[wanted.format](path)]
    async with open_embedder(Settings.from_sources(embed_threads=wanted.threads), None) as embedder:
        return await subjects([merged(conversations)] if wanted.merged else conversations, embedder)


def report(run: Run, without: str | None) -> Report:
    return {
        "without": without or "nothing",
        "questions": len(run.outcomes),
        "figures": {name: asdict(figure) for name, figure in figures(run.outcomes).items()},
        "categories": by_category(run.outcomes),
        "auroc": auroc(run.answered, run.foreign),
        "milliseconds": {stage: median(spent) for stage, spent in run.milliseconds.items()},
    }


COLUMNS = ("R@1", "R@5", "R@10", "R@20", "all@10", "hit@1", "MRR", "sessions@5", "within 500", "within 1000")


def show(console: Console, reports: Sequence[Report], *, title: str = "recall") -> None:
    table = Table(
        "without", *COLUMNS, "AUROC", "ms", title=f"{title}: {reports[0]['questions']} questions, 95 % intervals"
    )
    for each in reports:
        measured, spent = each["figures"], each["milliseconds"]
        assert isinstance(measured, dict)
        assert isinstance(spent, dict)
        cells = [f"{measured[name]['value']}\n{measured[name]['low']}-{measured[name]['high']}" for name in COLUMNS]
        table.add_row(str(each["without"]), *cells, str(each["auroc"]), str(spent.get("whole")))
    console.print(table)
    for category, rates in dict(reports[0]["categories"]).items():  # type: ignore[call-overload]
        console.print(f"{category:>26}: " + "  ".join(f"{name} {value}" for name, value in rates.items()))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench.recall_eval", description=__doc__)
    parser.add_argument("--data", type=Path, nargs="+", required=True, help="files with conversations and questions")
    parser.add_argument("--format", choices=READERS, default="jsonl")
    parser.add_argument("--without", choices=WITHOUT, help="leave one part out")
    parser.add_argument("--ladder", action="store_true", help="leave each part out in turn")
    parser.add_argument("--merged", action="store_true", help="all conversations are one user's")
    parser.add_argument("--json", type=Path, help="where to write the figures")
    parser.add_argument("--compare", type=Path, help="figures of an earlier run to show beside")
    parser.add_argument("--threads", type=int, default=1, help="for the embedding model")
    return parser


if __name__ == "__main__":
    sys.exit(main())
