"""Recall in five languages, on sets of our own: `python -m bench.languages [--embedder NAME]`.

By default for words alone and for the local model, which was trained on English. The sets are small: one question is
ten points of its language.
"""

import argparse
import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from commonplace.evaluation.report import Report
from commonplace.evaluation.run import WORDS, Wanted, evaluate

SETS = Path(__file__).parent / "sets" / "languages"
LANGUAGES = ("de", "es", "fr", "ja", "zh")
SHOWN = ("hit@1", "R@5", "R@10")


async def measured(language: str, embedder: str) -> Report:
    """Return the figures of one language, its words stemmed as that language's."""
    wanted = Wanted(data=[SETS / f"{language}.jsonl"], embedder=embedder)
    evaluation = await evaluate(wanted, {"language": language})
    return evaluation.reports[0]


async def table(embedders: Sequence[str]) -> Table:
    shown = Table("language", *(f"{embedder}: {name}" for embedder in embedders for name in SHOWN))
    for language in LANGUAGES:
        reports = [await measured(language, embedder) for embedder in embedders]
        shown.add_row(language, *(f"{report.figures[name].value:g}" for report in reports for name in SHOWN))
    return shown


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.languages", description=__doc__)
    parser.add_argument("--embedder", action="append", help="words, local, local:FOLDER or PROVIDER:MODEL")
    wanted = parser.parse_args(arguments)
    Console(width=None if sys.stdout.isatty() else 120).print(asyncio.run(table(wanted.embedder or [WORDS, "local"])))
    return 0


if __name__ == "__main__":
    sys.exit(main())
