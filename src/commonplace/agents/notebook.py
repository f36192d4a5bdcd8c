"""Answers without a model: what is remembered, word for word, and what was noted.

Its replies quote the memory, so they are not kept: a memory that remembers its own quotations would quote them again.
"""

from collections.abc import AsyncIterator, Sequence

from commonplace.agents.telling import told
from commonplace.agents.turns import Ended, Event, Remembered, Turn, Words
from commonplace.domain.values import FactChange, Recalled
from commonplace.memory import AsyncMemory

SHOWN = 8
CLOSE = 0.3
"""So much of the best one's relevance has what answers, too."""
NOTHING = "I remember nothing about that."
NOTED = {"learned": "Noted", "refined": "Noted", "replaced": "No longer", "ended": "No longer"}


class Notebook:
    """Answers from memory alone."""

    def __init__(self, memory: AsyncMemory) -> None:
        self._memory = memory

    async def stream(self, said: str, *, user: str | None = None, session: str | None = None) -> AsyncIterator[Event]:
        try:
            found = await self._memory.recall(said, user=user, limit=20)
        finally:
            added = await self._memory.add(said, user=user, session=session)
        items = answering(found)
        yield Remembered(items, found.notes)
        reply = await self._noted(added.changes, user=user) if added.changes else recited(items)
        for line in reply.splitlines(keepends=True):
            yield Words(line)
        notes = (*found.notes, *added.notes)
        yield Ended(
            Turn(reply=reply, session=session, added=added, remembered=items, changes=added.changes, notes=notes)
        )

    async def _noted(self, changes: Sequence[FactChange], *, user: str | None) -> str:
        lines = [
            f"{NOTED.get(one.change, 'Noted')}: {one.text}" for one in await told(self._memory, changes, user=user)
        ]
        return "\n".join(lines) or "Noted."


def answering(found: Sequence[Recalled]) -> tuple[Recalled, ...]:
    """Return what answers a question: the facts that hold; only without any, what the user has said of it.

    A model reads past what is beside the point; a person who is told it takes it for the answer.
    """
    least = CLOSE * max((item.relevance for item in found), default=0.0)
    near = [item for item in found if item.relevance >= least and item.note is None]
    facts = [item for item in near if item.kind not in ("message", "summary")]
    said = [item for item in near if item.kind == "message" and item.role == "user"]
    return tuple((facts or [item for item in said if not item.text.rstrip().endswith("?")])[:SHOWN])


def recited(items: Sequence[Recalled]) -> str:
    if not items:
        return NOTHING
    return "Here is what I remember:\n" + "\n".join(f"- {' '.join((one.passage or one.text).split())}" for one in items)
