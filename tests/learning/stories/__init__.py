"""Life stories: messages over months, and what must be known of them now and at earlier moments."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Literal, cast

import yaml

from commonplace.domain.values import Fact, Role


@dataclass(frozen=True, slots=True)
class Line:
    at: datetime
    role: Role
    text: str


@dataclass(frozen=True, slots=True)
class Story:
    name: str
    told: Sequence[Line]
    moments: Mapping[datetime, Sequence[str]]
    """What is known to hold at each moment, the end of the story among them."""
    left_open: bool
    """The rules leave to what is known what it is about; a model is shown what is known, and says it."""


def stories() -> list[Story]:
    files = sorted(Path(__file__).parent.glob("*.yaml"))
    return [_story(entry) for path in files for entry in yaml.safe_load(path.read_text())]


def shown(facts: Iterable[Fact]) -> list[str]:
    """Return facts as the stories write them: "home: Paris", "user's sister home: Oslo"."""
    return sorted(
        f"{fact.attribute}: {fact.value}"
        if fact.subject == "user"
        else f"{fact.subject} {fact.attribute}: {fact.value}"
        for fact in facts
    )


def _story(entry: Mapping[str, object]) -> Story:
    told = [_line(at, text) for at, text in cast(list[tuple[date | str, str]], entry["told"])]
    then = cast(Mapping[date | str, list[str]], entry["then"])
    moments = {_moment(at): sorted(facts) for at, facts in then.items()}
    moments[max(line.at for line in told) + timedelta(days=1)] = sorted(cast(list[str], entry["now"]))
    return Story(cast(str, entry["story"]), told, moments, bool(entry.get("left_open")))


def _line(at: date | str, text: str) -> Line:
    role, _, rest = text.partition(": ")
    if role in ("assistant", "tool", "system"):
        return Line(_moment(at), cast(Literal["assistant", "tool", "system"], role), rest)
    return Line(_moment(at), "user", text)


def _moment(at: date | str) -> datetime:
    """Return a moment: nine in the morning where only the day is given."""
    moment = datetime.fromisoformat(at) if isinstance(at, str) else datetime(at.year, at.month, at.day, 9)  # noqa: DTZ001
    return moment.replace(tzinfo=UTC)
