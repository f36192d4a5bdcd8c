"""Plain lines of messages: an object each with `content` or `text`, and what else `add` takes of a message.

A line without an id gets one made from what it says, so that the same file imported twice is imported once.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from commonplace.care.importers.source import Source
from commonplace.care.lines import object_of
from commonplace.domain.archive import KeptMessage, OfUser
from commonplace.domain.errors import InvalidInput
from commonplace.domain.imports import Bad, Item, Reading, Taken
from commonplace.domain.inputs import MESSAGE_KEYS, Told, parse_messages, parse_optional_name
from commonplace.domain.values import Json, Message, SessionId

LINE_KEYS = MESSAGE_KEYS | {"user", "session", "agent", "text"}


class Owner(NamedTuple):
    """Whose message, and in which conversation."""

    user: str | None
    session: str | None
    agent: str | None


def read(source: Source, reading: Reading) -> Iterator[Item]:
    """Yield the messages. What a line says of its user and session goes before what `reading` says."""
    seen: Counter[bytes] = Counter()
    elsewhere = Owner(reading.user, reading.session, None)
    whose: OfUser | None = None
    for number, line in source.lines():
        place = f"line {number}"
        try:
            owner, message = parse_line(line, elsewhere, seen, reading)
        except InvalidInput as error:
            yield Bad(place, str(error))
            continue
        if whose != OfUser(owner.user):
            whose = OfUser(owner.user)
            yield Taken(place, whose)
        yield Taken(place, KeptMessage(message=message))


def parse_line(text: bytes, elsewhere: Owner, seen: Counter[bytes], reading: Reading) -> tuple[Owner, Message]:
    """Read one line. `seen` counts lines without an id, so that "ok" said twice stays two messages."""
    fields = object_of(text)
    if unknown := sorted(fields.keys() - LINE_KEYS):
        raise InvalidInput(f"unknown keys {unknown}; expected some of {sorted(LINE_KEYS)}")
    owner = Owner(
        *(parse_optional_name(fields.pop(name, default), name=name) for name, default in elsewhere._asdict().items())
    )
    if "text" in fields:
        fields.setdefault("content", fields.pop("text"))
    if fields.get("id") is None:
        fields["id"] = _id_of(fields, owner, seen)
    told = Told(session=None, agent=owner.agent, at=reading.now, metadata={}, expires_at=None, now=reading.now)
    (message,) = parse_messages(fields, told, new_id=str)
    return owner, replace(message, session=None if owner.session is None else SessionId(owner.session))


def _id_of(fields: dict[str, Json], owner: Owner, seen: Counter[bytes]) -> str:
    said = json.dumps([owner, fields], sort_keys=True).encode()
    digest = hashlib.blake2b(said, digest_size=12)
    seen[digest.digest()] += 1
    return f"import-{digest.hexdigest()}-{seen[digest.digest()]}"
