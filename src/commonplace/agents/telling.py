"""What has changed in memory, in words."""

from collections.abc import Iterable
from typing import NamedTuple

from commonplace.domain.errors import NotFound
from commonplace.domain.values import ChangeKind, FactChange
from commonplace.memory import AsyncMemory


class Told(NamedTuple):
    change: ChangeKind
    text: str
    fact: str


async def told(memory: AsyncMemory, changes: Iterable[FactChange], *, user: str | None) -> list[Told]:
    """Return each change with the text of its fact; what has been forgotten since is left out."""
    lines: list[Told] = []
    for change in changes:
        try:
            versions = await memory.history(change.fact, user=user)
        except NotFound:
            continue
        lines.append(Told(change.change, versions[-1].text, change.fact))
    return lines
