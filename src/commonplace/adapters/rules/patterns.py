"""Regular expressions, compiled when first used: compiling the large ones takes longer than importing all the rest."""

import re
import sys
from collections.abc import Callable, Iterator

FOLDED = re.IGNORECASE


class Pattern:
    """Like re.Pattern, as far as the rules use it."""

    __slots__ = ("_compiled", "_flags", "_source")

    def __init__(self, source: str, flags: int = 0) -> None:
        self._source = source
        self._flags = flags
        self._compiled: re.Pattern[str] | None = None

    @property
    def compiled(self) -> re.Pattern[str]:
        if self._compiled is None:
            self._compiled = re.compile(self._source, self._flags)
        return self._compiled

    def search(self, text: str, start: int = 0, stop: int = sys.maxsize) -> re.Match[str] | None:
        return self.compiled.search(text, start, stop)

    def match(self, text: str, start: int = 0, stop: int = sys.maxsize) -> re.Match[str] | None:
        return self.compiled.match(text, start, stop)

    def fullmatch(self, text: str) -> re.Match[str] | None:
        return self.compiled.fullmatch(text)

    def finditer(self, text: str, start: int = 0, stop: int = sys.maxsize) -> Iterator[re.Match[str]]:
        return self.compiled.finditer(text, start, stop)

    def sub(self, replacement: str | Callable[[re.Match[str]], str], text: str) -> str:
        return self.compiled.sub(replacement, text)

    def subn(self, replacement: str, text: str) -> tuple[str, int]:
        return self.compiled.subn(replacement, text)

    def split(self, text: str) -> list[str]:
        return [part for part in self.compiled.split(text) if part is not None]
