"""Copies that several processes share, in front of the ledger. All of them may be lost at any moment."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from commonplace.domain.results import Finding
from commonplace.domain.scope import Scope
from commonplace.domain.values import MessageId


@dataclass(frozen=True, slots=True)
class Changed:
    """Another process has changed what is known of a user. It may never be told: the ledger's version is the truth."""

    scope: Scope
    forgotten: bool = False


@dataclass(frozen=True, slots=True)
class Missed:
    """Changes may have been told while nobody could listen."""


News = Changed | Missed


class SharedCopies(Protocol):
    @property
    def name(self) -> str:
        """What receipts and checks call it, e.g. `redis`."""
        ...

    async def state(self) -> str:
        """Return `ok`, or what is wrong."""
        ...

    def figures(self) -> Mapping[str, int]:
        """Return what it did so far, by name: `up` is 1 or 0."""
        ...

    async def inspect(self) -> Sequence[Finding]:
        """Look for what is not as it should be."""
        ...

    async def erase(self, scopes: Sequence[Scope], messages: Sequence[MessageId]) -> int | None:
        """Remove all copies about these users, and all vectors, then look for the messages in what is there of them.

        Others may read about these users all the while, and fill copies with what is left of them. Returns how many
        keys hold one of the messages; None if it cannot be reached, and then everything there ends by itself in an
        hour at most.
        """
        ...

    def listen(self, hear: Callable[[News], None]) -> Callable[[], None]:
        """Tell of changes by other processes from now on. Returns what ends it."""
        ...
