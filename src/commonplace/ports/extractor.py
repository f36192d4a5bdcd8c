"""From what was said to claims. Rules and models are both extractors."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from commonplace.domain.claims import Claim
from commonplace.domain.values import Fact, Message


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A user's message with what helps to understand it."""

    message: Message
    before: Sequence[Message] = ()
    """The last few messages of the same session, oldest first."""
    known: Sequence[Fact] = ()
    """The nearest facts known now."""


class Extractor(Protocol):
    @property
    def identity(self) -> str:
        """Name and version, recorded with each fact: `rules-en/1`, or model and prompt hash."""
        ...

    def looks_back(self, message: Message) -> bool:
        """Say, at once, whether the messages before this one are needed to understand it."""
        ...

    async def extract(self, said: Said) -> Sequence[Claim]:
        """Return the claims that the message itself makes, in its order; none for a question, a wish, a quotation.

        Raises ModelUnavailable or UnreadableReply: a failure never looks like "no claims".
        """
        ...
