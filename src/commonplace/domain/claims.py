"""What an extractor reads out of a message, and what may be decided about it: two closed sets."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from commonplace.domain.values import FactId, FactKind

Standing = Literal["holds", "ended", "denied", "corrects"]
"""`holds`: it is so. `ended`: it was so and is no longer. `denied`: it is not so, and nothing says it ever was.
`corrects`: it is so, and what was said before about the same attribute was a mistake."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One atomic statement found in a message, not yet compared with what is known."""

    text: str
    """Clean third person: "User uses Shram as a productivity tool"."""
    subject: str = "user"
    """Who or what it is about, in lower case: "user", "user's sister"."""
    attribute: str
    """A key of the attribute table: "uses", "home", "name"."""
    value: str
    """What the attribute is: "Shram"."""
    standing: Standing = "holds"
    kind: FactKind = "fact"
    confidence: float = 0.9
    importance: float = 0.5
    valid_from: datetime | None = None
    """When it began, if that was said."""
    valid_to: datetime | None = None
    """When it ended or will end, if that was said."""
    start: int
    stop: int
    """The words of the message it rests on: text[start:stop]."""
    follows: bool = False
    """It takes the place of what the ending before it ends, whatever that is: "switched from law to medicine". One that
    is unsure as well is nothing where that is not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """What a model says that a message claims. It becomes a Claim if the message really says it."""

    quote: str
    """The words of the message it rests on, as the model gives them."""
    text: str
    subject: str
    attribute: str
    value: str
    standing: Standing = "holds"
    kind: FactKind | None = None
    """None: that of the attribute."""
    confidence: float = 0.8
    importance: float | None = None
    """None: that of the attribute."""
    valid_from: datetime | None = None
    valid_to: datetime | None = None


@dataclass(frozen=True, slots=True)
class New:
    """Contradicts nothing known."""

    claim: Claim
    reason: str
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    ended_by: FactId | None = None
    """A known fact that only said that this is over: it is taken up in `valid_to`, and no longer stands alone."""


@dataclass(frozen=True, slots=True)
class Same:
    """Known already: the fact is reinforced."""

    claim: Claim
    known: FactId
    reason: str


@dataclass(frozen=True, slots=True)
class Replaces:
    """The attribute has one value, and this is the new one. The old fact is closed at `since` and kept as history."""

    claim: Claim
    known: tuple[FactId, ...]
    since: datetime
    reason: str
    valid_to: datetime | None = None
    """Set when a back-dated message tells of a value that was replaced in the meantime."""
    open_start: bool = False
    """Nothing older is known, so nobody can say when it began: the new fact has no start."""
    mistaken: bool = False
    """A correction: the old fact was never true, so it is retracted instead of closed."""
    ended_by: FactId | None = None
    """As in `New`."""


@dataclass(frozen=True, slots=True)
class Ends:
    """What was known is no longer so. The facts are closed at `since`."""

    claim: Claim
    known: tuple[FactId, ...]
    since: datetime
    reason: str
    until: datetime | None = None
    """Set when a back-dated message tells of an end, and it was said to be so again later."""


@dataclass(frozen=True, slots=True)
class Refines:
    """The same fact with more detail: the known one gets a new version with the claim's text."""

    claim: Claim
    known: FactId
    reason: str
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    """When it began and ended, as far as the claim tells it anew; None leaves what was known."""
    reworded: bool = True
    """False when only the dates are better known: the text stays."""


@dataclass(frozen=True, slots=True)
class Ignored:
    """Nothing is done."""

    claim: Claim
    reason: str


Decision = New | Same | Replaces | Ends | Refines | Ignored
