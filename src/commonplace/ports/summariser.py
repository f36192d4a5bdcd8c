"""From a stretch of a conversation to what it comes down to. Without one, the stretch's own sentences are taken."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from commonplace.domain.usage import NOTHING, Usage
from commonplace.domain.values import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class SummedUp:
    text: str
    usage: Usage = NOTHING


class Summariser(Protocol):
    @property
    def identity(self) -> str:
        """Model and prompt, recorded with each summary."""
        ...

    async def summarise(self, messages: Sequence[Message]) -> SummedUp:
        """Return the summary. Raises ModelUnavailable or UnreadableReply: a failure never looks like an empty one."""
        ...
