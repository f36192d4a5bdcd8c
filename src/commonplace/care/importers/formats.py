"""Which forms are known, and which one a file has. A look at its first bytes is enough."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Literal, cast, get_args

from commonplace.care.importers import archive, chatgpt, claude, langgraph, letta, mem0, messages, zep
from commonplace.care.importers.source import Source
from commonplace.domain.errors import InvalidInput
from commonplace.domain.imports import Item, Reading

Format = Literal["auto", "commonplace", "messages", "chatgpt", "claude", "mem0", "letta", "zep", "langgraph"]
Reader = Callable[[Source, Reading], Iterator[Item]]

READERS: Mapping[Format, Reader] = {
    "commonplace": archive.read,
    "messages": messages.read,
    "chatgpt": chatgpt.read,
    "claude": claude.read,
    "mem0": mem0.read,
    "letta": letta.read,
    "zep": zep.read,
    "langgraph": langgraph.read,
}
RAW: frozenset[Format] = frozenset({"messages", "chatgpt", "claude", "letta"})
"""Forms that hold what was said, and not what was learned from it: they are learned from."""

_SIGNS: Mapping[Format, tuple[bytes, ...]] = {
    "chatgpt": (b'"mapping"',),
    "claude": (b'"chat_messages"',),
    "letta": (b'"core_memory"', b'"agent_type"', b'"agents"'),
    "zep": (b'"episodes"', b'"edges"', b'"fact"'),
    "langgraph": (b'"namespace"', b'"prefix"'),
    "mem0": (b'"memory"', b'"memory_id"'),
}
"""Keys by which a form is told, the surest first."""


def parse_format(value: object) -> Format:
    if value not in get_args(Format):
        raise InvalidInput(f"format={value!r}: expected one of {', '.join(get_args(Format))}")
    return cast(Format, value)


def detect(source: Source) -> Format:
    """Return the form of a file; lines of messages when nothing else fits. Raises InvalidInput for an unknown list."""
    head = source.head().lstrip(b"\xef\xbb\xbf \t\r\n")
    if re.match(rb'\{\s*"type"\s*:\s*"commonplace"', head):
        return "commonplace"
    first = head.partition(b"\n")[0]
    if first.startswith(b"{") and re.search(rb'"(content|text)"\s*:\s*"', first) and not _signs(first):
        return "messages"
    if head.startswith((b"[", b"{")) and (signs := _signs(head)):
        return signs[0]
    if head.startswith(b"["):
        raise InvalidInput(f"{source.name}: cannot tell what form this is: name it with format, e.g. mem0 or zep")
    return "messages"


def _signs(head: bytes) -> list[Format]:
    return [form for form, keys in _SIGNS.items() if any(re.search(key + rb"\s*:", head) for key in keys)]
