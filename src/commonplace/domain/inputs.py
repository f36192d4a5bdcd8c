"""Arguments, parsed once at the edge: what is wrong is refused with the value and what was expected."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal, cast, get_args

from commonplace.domain.errors import InvalidInput
from commonplace.domain.times import parse_moment, parse_optional_moment
from commonplace.domain.values import FactKind, Json, Kind, Message, MessageId, Metadata, Role, SessionId

LONGEST_NAME = 1_000
LONGEST_TEXT = 8_000_000
LARGEST_PAGE = 10_000
ROLES = get_args(Role)
MESSAGE_KEYS = {"role", "content", "name", "at", "id", "metadata", "expires_at", "attachments"}


def parse_name(value: object, *, name: str) -> str:
    """Return an id or a name. Any characters are allowed; they are never part of a path or a query."""
    if not isinstance(value, str):
        raise InvalidInput(f"{name}={_shown(value)}: expected a string")
    if not value:
        raise InvalidInput(f"{name}='': expected a string that is not empty")
    if len(value) > LONGEST_NAME:
        raise InvalidInput(f"{name}: {len(value):,} characters; expected at most {LONGEST_NAME:,}")
    return value


def parse_optional_name(value: object, *, name: str) -> str | None:
    return None if value is None else parse_name(value, name=name)


def parse_text(value: object, *, name: str) -> str:
    if not isinstance(value, str):
        raise InvalidInput(f"{name}={_shown(value)}: expected a string")
    if not value.strip():
        raise InvalidInput(f"{name}={_shown(value)}: expected some text")
    if len(value) > LONGEST_TEXT:
        raise InvalidInput(f"{name}: {len(value):,} characters; expected at most {LONGEST_TEXT:,}")
    return value


def parse_count(value: object, *, name: str, least: int = 0, most: int = LARGEST_PAGE) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise InvalidInput(f"{name}={_shown(value)}: expected a whole number from {least} to {most:,}")
    return value


def parse_share(value: object, *, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
        raise InvalidInput(f"{name}={_shown(value)}: expected a number from 0 to 1")
    return float(value)


def parse_metadata(value: object, *, name: str = "metadata") -> Metadata:
    """Return a copy that later changes to the caller's dict do not reach."""
    if value is None:
        return {}
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise InvalidInput(f"{name}={_shown(value)}: expected a dict with strings as keys")
    try:
        return cast(dict[str, Json], json.loads(json.dumps(dict(value), allow_nan=False)))
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput(f"{name}={_shown(value)}: expected what JSON can hold: {error}") from None


def parse_kinds(value: object) -> frozenset[Kind] | None:
    if value is None:
        return None
    given = [value] if isinstance(value, str) else list(value) if isinstance(value, Iterable) else [value]
    unknown = [kind for kind in given if kind not in get_args(Kind)]
    if unknown or not given:
        raise InvalidInput(f"kinds={_shown(value)}: expected some of {', '.join(get_args(Kind))}")
    return frozenset(cast(list[Kind], given))


def parse_fact_kind(value: object) -> FactKind:
    if value not in get_args(FactKind):
        raise InvalidInput(f"kind={_shown(value)}: expected one of {', '.join(get_args(FactKind))}")
    return cast(FactKind, value)


def parse_status(value: object) -> Literal["queued", "running", "dead"] | None:
    if value is None or value == "queued" or value == "running" or value == "dead":
        return value
    raise InvalidInput(f"status={_shown(value)}: expected queued, running or dead")


def parse_during(value: object) -> tuple[datetime | None, datetime | None] | None:
    """Return (start, end): start is included, end is not; None is open."""
    if value is None:
        return None
    if not isinstance(value, (tuple, list)) or len(value) != 2:
        raise InvalidInput(f"during={_shown(value)}: expected (start, end), either may be None")
    start, end = (parse_optional_moment(moment, name="during") for moment in value)
    if start is not None and end is not None and end < start:
        raise InvalidInput(f"during={_shown(value)}: ends before it starts")
    return start, end


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What was given to `add` beside the content: it holds for each message that does not say otherwise."""

    session: SessionId | None
    agent: str | None
    at: datetime
    metadata: Metadata
    expires_at: datetime | None
    now: datetime


def parse_messages(content: object, told: Told, *, new_id: Callable[[], str]) -> list[Message]:
    """Return the messages of a str (said by the user), of one message dict, or of a list of them."""
    given: Sequence[object]
    if isinstance(content, (str, Mapping)):
        given = [content]
    elif isinstance(content, Sequence) and not isinstance(content, (bytes, bytearray)):
        given = content
    else:
        raise InvalidInput(f"content={_shown(content)}: expected a str, a message dict, or a list of them")
    messages = [
        _said(item, told, new_id=new_id) if isinstance(item, str) else _parse_message(item, told, new_id=new_id)
        for item in given
    ]
    if not messages:
        raise InvalidInput("content=[]: expected at least one message")
    ids = [message.id for message in messages]
    if len(set(ids)) != len(ids):
        raise InvalidInput("content: two different messages of one call have the same id")
    return messages


def told_once(content: object) -> object:
    """Leave out the repetitions in a list: the same id with the same words is one message."""
    if not isinstance(content, list | tuple):
        return content
    first: dict[str, object] = {}
    once: list[object] = []
    for item in content:
        id_ = _id_of(item)
        if id_ is None or id_ not in first or first[id_] != item:
            once.append(item)
        if id_ is not None:
            first.setdefault(id_, item)
    return once


def _id_of(item: object) -> str | None:
    given = item.get("id") if isinstance(item, Mapping) else None
    return given if isinstance(given, str) else None


def _said(text: str, told: Told, *, new_id: Callable[[], str]) -> Message:
    return Message(
        id=MessageId(new_id()),
        role="user",
        text=parse_text(text, name="content"),
        at=told.at,
        recorded_at=told.now,
        session=told.session,
        agent=told.agent,
        metadata={**told.metadata},
        expires_at=told.expires_at,
    )


def _parse_message(item: object, told: Told, *, new_id: Callable[[], str]) -> Message:
    fields = _fields(item)
    role = fields.get("role", "user")
    if role not in ROLES:
        raise InvalidInput(f"role={_shown(role)}: expected one of {', '.join(ROLES)}")
    given_id, at = fields.get("id"), fields.get("at")
    return Message(
        id=MessageId(new_id() if given_id is None else parse_name(given_id, name="id")),
        role=cast(Role, role),
        text=parse_text(fields.get("content"), name="content"),
        at=told.at if at is None else parse_moment(at, name="at"),
        recorded_at=told.now,
        session=told.session,
        name=parse_optional_name(fields.get("name"), name="name"),
        agent=told.agent,
        metadata={**told.metadata, **parse_metadata(fields.get("metadata"))},
        expires_at=parse_optional_moment(fields.get("expires_at"), name="expires_at") or told.expires_at,
    )


def _fields(item: object) -> Mapping[object, object]:
    if not isinstance(item, Mapping):
        raise InvalidInput(f"content: {_shown(item)}: expected a str or a message dict")
    if unknown := set(item) - MESSAGE_KEYS:
        raise InvalidInput(
            f"content: unknown message keys {sorted(map(str, unknown))}; expected some of {sorted(MESSAGE_KEYS)}"
        )
    if "content" not in item:
        raise InvalidInput(f"content: {_shown(item)}: expected a message dict with 'content'")
    return item


def parse_ttl(value: object) -> float:
    if isinstance(value, timedelta):
        value = value.total_seconds()
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value <= 10 * 366 * 86_400:
        raise InvalidInput(f"ttl={_shown(value)}: expected seconds, more than 0 and at most ten years")
    return float(value)


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}…"
