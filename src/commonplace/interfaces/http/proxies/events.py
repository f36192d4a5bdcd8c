"""Server-sent events, read from bytes that come in pieces of any size."""

import re
from collections.abc import Iterator

LINE_END = re.compile(rb"\r\n|\n|\r(?!$)")
"""A carriage return at the very end may be half of a line end."""


class Events:
    def __init__(self) -> None:
        self._rest = b""
        self._data: list[str] = []

    def feed(self, piece: bytes) -> Iterator[str]:
        """Yield the data of each event that is complete now."""
        *lines, self._rest = LINE_END.split(self._rest + piece)
        for line in lines:
            if line.startswith(b"data:"):
                self._data.append(line[5:].removeprefix(b" ").decode("utf-8", "replace"))
            elif not line and self._data:
                yield "\n".join(self._data)
                self._data = []
