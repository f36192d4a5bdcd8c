"""From what was said to claims. Rules and models are both extractors."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from commonplace.domain.claims import Claim, Proposal
from commonplace.domain.usage import NOTHING, Usage
from commonplace.domain.values import Fact, Message


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A user's message with what helps to understand it."""

    message: Message
    before: Sequence[Message] = ()
    """The last few messages of the same session, oldest first."""
    known: Sequence[Fact] = ()
    """The nearest facts known now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction:
    """What was read out of one message, in its order."""

    claims: tuple[Claim, ...] = ()
    """Read by rule: they point to their words."""
    proposals: tuple[Proposal, ...] = ()
    """Read by a model: each must still prove that the message says it."""
    usage: Usage = NOTHING


class Extractor(Protocol):
    @property
    def inline(self) -> bool:
        """Whether it is quick enough for `add` to wait for it. If not, a durable job calls it."""
        ...

    @property
    def identity(self) -> str:
        """Name and version, recorded with each fact: `rules-en/1`, or model and prompt hash."""
        ...

    def looks_back(self, message: Message) -> bool:
        """Say, at once, whether the messages before this one are needed to understand it."""
        ...

    async def extract(self, said: Said) -> Extraction:
        """Return what the message itself claims; nothing for a question, a wish, a quotation.

        Raises ModelUnavailable or UnreadableReply: a failure never looks like "no claims".
        """
        ...
