"""Output for people, with rich: tables as wide as the terminal, colours where there are some.

Text from a memory is data: neither its brackets nor its control characters may act on the terminal.
"""

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def harmless(text: str) -> str:
    """Return the text with every control character, and every half of a surrogate pair, made visible."""
    return CONTROLS.sub(lambda found: ascii(found[0])[1:-1], text)


class _Console(Console):
    def on_broken_pipe(self) -> None:
        raise BrokenPipeError  # rich would end the program here; that is decided in one place, at the edge


class Screen:
    def __init__(self, *, to_stderr: bool = False, color: bool = True) -> None:
        self._console = _Console(
            file=sys.stderr if to_stderr else sys.stdout, no_color=not color, highlight=False, markup=False, emoji=False
        )

    def say(self, text: str = "", *, style: str = "") -> None:
        self._console.print(Text(harmless(text), style=style), soft_wrap=True)

    def stream(self, text: str, *, style: str = "") -> None:
        """Print without a new line: the rest is still to come."""
        self._console.print(Text(harmless(text), style=style), soft_wrap=True, end="")
        self._console.file.flush()

    def table(self, heads: Sequence[str], rows: Sequence[Sequence[str]], *, fixed: Sequence[str] = ()) -> None:
        """Print a table without lines. The columns named in `fixed` are never wrapped."""
        table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
        for head in heads:
            table.add_column(head, no_wrap=head in fixed, overflow="fold", style="cyan" if head == "id" else "")
        for row in rows:
            table.add_row(*(Text(harmless(cell)) for cell in row))
        self._console.print(table)

    def entries(self, entries: Iterable[tuple[str, str, Sequence[str]]]) -> None:
        """Print texts, which may be long, each with a word before it and its details below it."""
        table = Table.grid(padding=(0, 2, 0, 0))
        table.add_column(no_wrap=True, style="bold")
        table.add_column(overflow="fold")
        for head, text, details in entries:
            lines = [Text(harmless(text)), *(Text(harmless(detail), style="dim") for detail in details if detail)]
            table.add_row(head, Text("\n").join(lines))
        self._console.print(table)

    @contextmanager
    def progress(self) -> Iterator[Callable[[str, int, int | None], None]]:
        columns = [TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn()]
        with Progress(*columns, console=self._console, transient=True) as progress:
            task = progress.add_task("", total=None)
            yield lambda what, done, total: progress.update(task, description=what, completed=done, total=total)
