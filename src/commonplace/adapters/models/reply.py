"""The shape that a model must answer in. It is lenient where a small model slips and no meaning is lost.

Its fields have no lengths of their own: the reply as a whole is limited (`agent_max_tokens`).
"""

from datetime import date, datetime
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, Field

from commonplace.domain.claims import Proposal

_NO_DATE = frozenset({"", "null", "none", "unknown", "n/a", "now", "present"})


def _date(value: object) -> object:
    return None if isinstance(value, str) and value.strip().casefold() in _NO_DATE else value


def _text(value: object) -> object:
    return "" if value is None else value


Share = Annotated[float, Field(ge=0, le=1)]
Day = Annotated[datetime | date | None, BeforeValidator(_date)]


class Found(BaseModel):
    quote: str = Field(description="The words of the message that say it, letter by letter.")
    text: str = Field(description='One sentence in the third person: "User uses Shram".')
    subject: Annotated[str, BeforeValidator(_text)] = "user"
    attribute: str
    value: Annotated[str, BeforeValidator(_text)] = ""
    standing: Literal["holds", "ended", "denied", "corrects"] = "holds"
    confidence: Share = 0.8
    importance: Share | None = None
    valid_from: Day = None
    valid_to: Day = None

    def proposal(self) -> Proposal:
        return Proposal(
            quote=self.quote,
            text=self.text,
            subject=self.subject,
            attribute=self.attribute,
            value=self.value,
            standing=self.standing,
            confidence=self.confidence,
            importance=self.importance,
            valid_from=_moment(self.valid_from),
            valid_to=_moment(self.valid_to),
        )


class Reply(BaseModel):
    """What the message states, one entry for each fact; none if it states nothing."""

    claims: list[Found]


def _moment(day: datetime | date | None) -> datetime | None:
    if day is None or isinstance(day, datetime):
        return day
    return datetime(day.year, day.month, day.day)  # noqa: DTZ001 - grounding gives it its zone
