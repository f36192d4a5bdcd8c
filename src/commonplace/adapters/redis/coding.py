"""What is kept in Redis, as bytes, and back. JSON is plain ASCII there: any text survives, half characters too.

A copy that cannot be read, as one by another version of this program may be, is none: the ledger is read instead.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

from commonplace.domain.plain import as_json, from_json
from commonplace.domain.times import from_micros, to_micros
from commonplace.domain.values import Attachment, Json, Message, MessageId, Role, SessionId, SessionInfo

UNREADABLE = (KeyError, TypeError, ValueError, OverflowError)


@dataclass(frozen=True, slots=True, kw_only=True)
class Copy:
    """A session as it is kept: what the ledger said of it, and uses since that the ledger need not know."""

    info: SessionInfo
    durable: datetime
    """Until when it lives by what the ledger says."""
    state: Mapping[str, Json] | None = None
    """None: not known here."""

    def lives(self, now: datetime) -> bool:
        return self.info.ended_at is None and self.info.expires_at > now


def session_fields(copy: Copy, edition: bytes) -> Sequence[str | bytes | int]:
    """Return names and values of a hash, one after the other."""
    info = copy.info
    fields: list[str | bytes | int] = [
        *("edition", edition, "id", text(info.id)),
        *("started", to_micros(info.started_at), "seen", to_micros(info.last_seen)),
        *("expires", to_micros(info.expires_at), "durable", to_micros(copy.durable)),
        *("ended", "" if info.ended_at is None else to_micros(info.ended_at), "messages", info.messages),
    ]
    if copy.state is not None:
        fields += ["state", text(copy.state), "state-edition", edition]
    return fields


def session_of(fields: Mapping[bytes, bytes], edition: bytes | None) -> Copy | None:
    """Return the session of a hash; None unless it is of this edition, and can be read."""
    if edition is None or fields.get(b"edition") != edition:
        return None
    try:
        return _session(fields, edition)
    except UNREADABLE:
        return None


def _session(fields: Mapping[bytes, bytes], edition: bytes) -> Copy:
    info = SessionInfo(
        id=SessionId(json.loads(fields[b"id"])),
        started_at=from_micros(int(fields[b"started"])),
        last_seen=from_micros(int(fields[b"seen"])),
        expires_at=from_micros(int(fields[b"expires"])),
        messages=int(fields[b"messages"]),
        ended_at=from_micros(int(fields[b"ended"])) if fields[b"ended"] else None,
    )
    known = fields.get(b"state-edition") == edition
    state: dict[str, Json] | None = dict(json.loads(fields[b"state"])) if known else None
    return Copy(info=info, durable=from_micros(int(fields[b"durable"])), state=state)


def packed_message(message: Message) -> str:
    return text(
        {
            "id": message.id,
            "role": message.role,
            "text": message.text,
            "at": to_micros(message.at),
            "recorded_at": to_micros(message.recorded_at),
            "session": message.session,
            "name": message.name,
            "agent": message.agent,
            "metadata": dict(message.metadata),
            "expires_at": None if message.expires_at is None else to_micros(message.expires_at),
            "attachments": as_json(message.attachments),
        }
    )


def packed_start(message: MessageId) -> bytes:
    """Return what a packed message with this id starts with, and no other one: its id comes first."""
    return text({"id": message})[:-1].encode() + b","


def unpacked_messages(packed: Sequence[bytes]) -> Sequence[Message] | None:
    """Return the messages; None if one of them cannot be read."""
    try:
        return [_message(one) for one in packed]
    except UNREADABLE:
        return None


def _message(packed: bytes) -> Message:
    row: dict[str, Any] = json.loads(packed)
    return Message(
        id=MessageId(row["id"]),
        role=cast(Role, row["role"]),
        text=row["text"],
        at=from_micros(row["at"]),
        recorded_at=from_micros(row["recorded_at"]),
        session=None if row["session"] is None else SessionId(row["session"]),
        name=row["name"],
        agent=row["agent"],
        metadata=row["metadata"],
        expires_at=None if row["expires_at"] is None else from_micros(row["expires_at"]),
        attachments=tuple(from_json(Attachment, one) for one in row["attachments"]),
    )


def text(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))
