"""Which forms are known, and which one a file has. A look at its first bytes is enough."""

from collections.abc import Callable, Iterator, Mapping
from typing import Literal, cast, get_args

from commonplace.care.importers import archive, messages
from commonplace.care.importers.source import Source
from commonplace.domain.errors import InvalidInput
from commonplace.domain.imports import Item, Reading

Format = Literal["auto", "commonplace", "messages"]
Reader = Callable[[Source, Reading], Iterator[Item]]

READERS: Mapping[Format, Reader] = {"commonplace": archive.read, "messages": messages.read}
RAW: frozenset[Format] = frozenset({"messages"})
"""Forms that hold what was said, and not what was learned from it: they are learned from."""


def parse_format(value: object) -> Format:
    if value not in get_args(Format):
        raise InvalidInput(f"format={value!r}: expected one of {', '.join(get_args(Format))}")
    return cast(Format, value)


def detect(source: Source) -> Format:
    """Return the form of a file by its first bytes; lines of messages when nothing else fits."""
    head = source.head().lstrip(b"\xef\xbb\xbf \t\r\n")
    if head.startswith(b'{"type":"commonplace"') or head.startswith(b'{"type": "commonplace"'):
        return "commonplace"
    return "messages"
