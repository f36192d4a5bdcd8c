"""What one turn of a conversation shows while it goes on, and what it was in the end."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Protocol

from commonplace.domain.results import Added
from commonplace.domain.usage import NOTHING, Usage
from commonplace.domain.values import FactChange, FactId, Recalled


@dataclass(frozen=True, slots=True)
class Remembered:
    """What was recalled for this turn, before the first word of the reply."""

    items: tuple[Recalled, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Words:
    """The next words of the reply."""

    text: str


@dataclass(frozen=True, slots=True)
class Used:
    """The model called a tool."""

    tool: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A turn that has come to its end: everything in it is written."""

    reply: str
    session: str | None
    added: Added
    """The user's message. What is still pending of it, `memory.settle` waits for."""
    remembered: tuple[Recalled, ...] = ()
    changes: tuple[FactChange, ...] = ()
    """What was learned: from the message, and from what the agent proposed."""
    forgotten: tuple[FactId, ...] = ()
    blocks: tuple[str, ...] = ()
    """The names of blocks that the agent has written."""
    notes: tuple[str, ...] = ()
    usage: Usage = NOTHING


@dataclass(frozen=True, slots=True)
class Ended:
    turn: Turn


Event = Remembered | Words | Used | Ended


class Answering(Protocol):
    """Who answers: a model, or the memory itself."""

    def stream(self, said: str, *, user: str | None = None, session: str | None = None) -> AsyncIterator[Event]:
        """Yield the events of one turn, `Ended` as the last.

        Whatever is raised, or if the caller leaves early: the user's message is kept, and nothing else is written.
        """
        ...
