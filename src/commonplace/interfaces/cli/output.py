"""What is printed: the answer on stdout, everything else on stderr; for people, or as one JSON document."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from commonplace.domain.plain import as_json
from commonplace.domain.progress import Progress
from commonplace.interfaces.cli.options import Everywhere

if TYPE_CHECKING:
    from commonplace.interfaces.cli.screen import Screen


def write_json(value: object, *, to_stderr: bool = False) -> None:
    stream = sys.stderr if to_stderr else sys.stdout
    # What a terminal cannot show is escaped; so is half a surrogate pair, which no encoding can hold.
    narrow = (stream.encoding or "").lower() not in {"utf-8", "utf8"}
    text = json.dumps(as_json(value), indent=None if to_stderr else 2, ensure_ascii=narrow)
    stream.write(text.encode("utf-8", "backslashreplace").decode() + "\n")


class Output:
    def __init__(self, call: Everywhere) -> None:
        self._call = call

    def answer(self, value: object, tell: "Callable[[Screen], None]") -> None:
        """Print the answer: `value` as JSON, or what `tell` makes of it for a person."""
        if self._call.json:
            write_json(value)
        else:
            tell(self._screen())

    def note(self, text: str) -> None:
        """Say something that is not the answer."""
        if self._call.quiet:
            return
        if self._call.json:
            write_json({"note": text}, to_stderr=True)
        else:
            self._screen(to_stderr=True).say(text, style="yellow")

    @contextmanager
    def progress(self) -> Iterator[Progress]:
        """Show how far long work has come, if somebody is there to see it."""
        if self._call.quiet or self._call.json or not sys.stderr.isatty():
            yield lambda what, done, total: None
        else:
            with self._screen(to_stderr=True).progress() as report:
                yield report

    def _screen(self, *, to_stderr: bool = False) -> "Screen":
        from commonplace.interfaces.cli.screen import Screen  # loads rich, which `--help` and `--json` do without

        return Screen(to_stderr=to_stderr, color=not self._call.no_color)
