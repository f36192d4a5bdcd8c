"""From loosely typed JSON to messages and facts: what a file may leave out, and what it must not get wrong."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import cast, get_args

from commonplace.domain.archive import Held, KeptFact, KeptMessage
from commonplace.domain.errors import InvalidInput
from commonplace.domain.inputs import parse_metadata, parse_name, parse_optional_name, parse_text
from commonplace.domain.times import parse_moment
from commonplace.domain.values import (
    Fact,
    FactChange,
    FactId,
    Json,
    Message,
    MessageId,
    Metadata,
    Role,
    SessionId,
    Source,
)

Object = dict[str, Json]
ROLES: Mapping[str, Role] = {
    **{role: role for role in get_args(Role)},
    "human": "user",
    "ai": "assistant",
    "model": "assistant",
    "function": "tool",
    "developer": "system",
}


def an_object(value: Json) -> Object:
    if not isinstance(value, dict):
        raise InvalidInput(f"{str(value)[:60]!r}: expected an object")
    return value


def object_at(value: Object, key: str) -> Object:
    """Return an object, an empty one where there is none."""
    found = value.get(key)
    return found if isinstance(found, dict) else {}


def objects_at(value: Object, key: str) -> Sequence[Object]:
    """Return the objects of a list; whatever else is in it is left out."""
    found = value.get(key)
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def text_at(value: Object, *keys: str) -> str | None:
    """Return the first of these that is a text with something in it."""
    return next((found for key in keys if isinstance(found := value.get(key), str) and found.strip()), None)


def moment(value: Json, *, name: str = "at") -> datetime | None:
    """Read seconds since 1970, or ISO 8601, which means UTC where it does not say. None for nothing."""
    if value is None or value == "":
        return None
    try:
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(value, UTC)
        parsed = datetime.fromisoformat(cast(str, value))
    except (TypeError, ValueError, OverflowError, OSError):
        raise InvalidInput(f"{name}={value!r}: expected seconds since 1970, or ISO 8601") from None
    return parse_moment(parsed if parsed.utcoffset() is not None else parsed.replace(tzinfo=UTC), name=name)


def made_id(*parts: Json) -> str:
    """Return an id that the same parts always have."""
    return f"import-{hashlib.blake2b(json.dumps(parts).encode(), digest_size=12).hexdigest()}"


def role_of(value: Json) -> Role:
    role = ROLES.get(value.lower()) if isinstance(value, str) else None
    if role is None:
        raise InvalidInput(f"role={value!r}: expected one of {', '.join(ROLES)}")
    return role


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A message as it was found."""

    id: Json
    role: Role
    text: str
    at: datetime
    recorded_at: datetime
    session: str | None = None
    name: Json = None
    metadata: Metadata = field(default_factory=dict)

    def kept(self) -> KeptMessage:
        """Return the message. Raises InvalidInput."""
        session = parse_optional_name(self.session, name="session")
        message = Message(
            id=MessageId(parse_name(self.id, name="id")),
            role=self.role,
            text=parse_text(self.text, name="text"),
            at=self.at,
            recorded_at=self.recorded_at,
            session=None if session is None else SessionId(session),
            name=parse_optional_name(self.name or None, name="name"),
            metadata=parse_metadata(self.metadata),
        )
        return KeptMessage(message=message)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """One version of a statement: what it said, and from when to when that was believed."""

    text: str
    since: datetime
    until: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stated:
    """A fact as it was found, with its wordings, oldest first."""

    id: Json
    wordings: Sequence[Wording]
    origin: str
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    metadata: Metadata = field(default_factory=dict)
    said: Mapping[str, int] = field(default_factory=dict)
    """The messages that it came from, with their length."""

    def records(self) -> Iterator[Held]:
        """Yield its versions, why they are believed, and where they are from. Raises InvalidInput."""
        fact, metadata = FactId(parse_name(self.id, name="id")), parse_metadata(self.metadata)
        first = self.wordings[0].since
        for version, wording in enumerate(self.wordings, start=1):
            yield KeptFact(
                fact=Fact(
                    id=fact,
                    text=parse_text(wording.text, name="text"),
                    said_at=first,
                    valid_from=self.valid_from,
                    valid_to=self.valid_to,
                    recorded_at=wording.since,
                    retracted_at=wording.until,
                    sources=tuple(MessageId(message) for message in self.said),
                    metadata=metadata,
                    version=version,
                )
            )
        for message, length in self.said.items():
            yield Source(fact=fact, message=MessageId(message), start=0, stop=length)
        for version, wording in enumerate(self.wordings, start=1):
            yield FactChange(
                fact=fact,
                version=version,
                change="remembered" if version == 1 else "revised",
                at=wording.since,
                reason=f"imported from {self.origin}",
            )
