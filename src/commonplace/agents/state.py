"""The typed state that one run works on: what it was given, and what it wants written. It writes nowhere else."""

from dataclasses import dataclass, field
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from commonplace.domain.claims import Proposal
from commonplace.domain.results import Context
from commonplace.domain.values import FactId

Share = Annotated[float, Field(ge=0, le=1)]


class MemoryUpdate(BaseModel):
    """One thing that the user's last message states: learned, or said to be over."""

    quote: str = Field(description="The words of the user's last message that say it, letter by letter.")
    text: str = Field(description='One sentence in the third person: "User uses Shram".')
    attribute: str = Field(
        description='What it is about: home, employer, uses, likes, name, "favourite …", "detail …".'
    )
    value: str = Field("", description="The shortest words that say what it is, taken from the message.")
    subject: str = Field("user", description='"user", or whom it is about: "user\'s sister".')
    standing: Literal["holds", "ended", "denied", "corrects"] = "holds"
    confidence: Share = 0.8

    def proposal(self) -> Proposal:
        return Proposal(
            quote=self.quote,
            text=self.text,
            subject=self.subject,
            attribute=self.attribute,
            value=self.value,
            standing=self.standing,
            confidence=self.confidence,
        )


@dataclass(slots=True, kw_only=True)
class MemoryState:
    """What a run knows, and what it proposes. Nothing of it is written before the run has ended well."""

    said: str
    """The user's message; empty where a run goes on without one."""
    user: str | None = None
    session: str | None = None
    context: Context | None = None
    """What was recalled."""
    shown: dict[FactId, str] = field(default_factory=dict)
    """The facts that the agent was shown: only these can it ask to forget."""
    updates: list[MemoryUpdate] = field(default_factory=list)
    forget: list[FactId] = field(default_factory=list)
    blocks: dict[str, str] = field(default_factory=dict)
