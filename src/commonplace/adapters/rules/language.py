"""What a language module gives: statements found in a message, and whether the message concerns it at all."""

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from commonplace.adapters.rules.clause import Finding


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    finding: Finding
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    corrects: bool = False
    """It opened with "no," or "actually,"."""
    contrasted: bool = False
    """It ended with ", not X"."""


@dataclass(frozen=True, slots=True)
class Reading:
    statements: tuple[Statement, ...]
    planted: bool = False
    """The message tries to give standing orders: nothing is learned from it, in any language."""


class Language(Protocol):
    @property
    def code(self) -> str: ...

    def concerns(self, text: str) -> bool:
        """Say, cheaply, whether the message can hold a statement in this language."""
        ...

    def read(self, text: str, at: datetime) -> Reading:
        """Return the statements, in the order of the text, which was cleaned by `own_words`."""
        ...
