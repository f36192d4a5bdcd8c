"""Letta's agent files (.af), of both forms: one agent with `core_memory`, or lists of `agents` and `blocks`.

Blocks become blocks, messages become messages; one agent is one conversation.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator
from datetime import datetime

from commonplace.care.importers.making import (
    Object,
    Said,
    an_object,
    made_id,
    moment,
    object_at,
    objects_at,
    role_of,
    text_at,
)
from commonplace.care.importers.source import Source
from commonplace.domain.archive import OfUser
from commonplace.domain.errors import InvalidInput
from commonplace.domain.imports import Bad, Item, Reading, Taken
from commonplace.domain.inputs import parse_name, parse_text
from commonplace.domain.values import Block

COUNTED = re.compile(r"message-\d+")
TIME = re.compile(r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d [AP]M) \S*?([+-]\d{4})")
"""As it writes it, e.g. `2026-01-20 02:13:45 PM PST-0800`."""


def read(source: Source, reading: Reading) -> Iterator[Item]:
    yield Taken("the beginning", OfUser(reading.user))
    for value in source.values():
        file = an_object(value)
        agents = objects_at(file, "agents") or [file]
        if not any("messages" in agent or "core_memory" in agent for agent in agents):
            yield Bad("the file", "has no agents and no messages: expected an agent file of Letta")
        blocks = [*objects_at(file, "blocks"), *(one for agent in agents for one in objects_at(agent, "core_memory"))]
        for order, block in enumerate(blocks):
            yield _block(block, order, reading)
        for number, agent in enumerate(agents, start=1):
            yield from _messages(agent, f"agent {number}", reading)


def _block(block: Object, order: int, reading: Reading) -> Item:
    place = f"block {block.get('label')}"
    try:
        kept = Block(
            name=parse_name(block.get("label"), name="label"),
            text=parse_text(block.get("value"), name="value"),
            order=order,
            updated_at=moment(block.get("updated_at")) or moment(block.get("created_at")) or reading.now,
        )
    except InvalidInput as error:
        return Bad(place, str(error))
    return Taken(place, kept)


def _messages(agent: Object, place: str, reading: Reading) -> Iterator[Item]:
    session = reading.session or text_at(agent, "name", "id")
    seen: Counter[str] = Counter()
    last = moment(agent.get("created_at")) or reading.now
    for number, message in enumerate(objects_at(agent, "messages"), start=1):
        text, time = _text(message)
        if not text:
            continue
        where = f"{place}, message {number}"
        seen[text] += 1
        try:
            last = moment(message.get("created_at")) or time or last
            said = Said(
                id=_id_of(message) or made_id(session, message.get("role"), text, seen[text]),
                role=role_of(message.get("role")),
                text=text,
                at=last,
                recorded_at=reading.now,
                session=session,
                name=message.get("name"),
            )
            yield Taken(where, said.kept())
        except InvalidInput as error:
            yield Bad(where, str(error))


def _id_of(message: Object) -> str | None:
    """Return the id; None where it only counts the messages of this file, for another file counts alike."""
    id_ = text_at(message, "id")
    return None if id_ is None or COUNTED.fullmatch(id_) else id_


def _text(message: Object) -> tuple[str, datetime | None]:
    """Return what was said, and when, if that is said with it; thoughts and calls of tools are left out."""
    answers = [one for call in objects_at(message, "tool_calls") if (one := _answer(object_at(call, "function")))]
    if answers:
        return "\n".join(answers), None
    blocks = [one for one in objects_at(message, "content") if one.get("type", "text") == "text"]
    text = "\n".join(text for one in blocks if (text := text_at(one, "text"))) or text_at(message, "content") or ""
    return _unpacked(text)


def _answer(function: Object) -> str | None:
    """Return what an agent said by the tool that it speaks with."""
    spoken = _loaded(text_at(function, "arguments") or "") if function.get("name") == "send_message" else None
    return None if spoken is None else text_at(spoken, "message")


def _unpacked(text: str) -> tuple[str, datetime | None]:
    """Take what a user said out of the form that a model is given it in. What the program itself says is left out."""
    packed = _loaded(text)
    if packed is None or "time" not in packed or not ("type" in packed or "status" in packed):
        return text, None
    if packed.get("type") != "user_message":
        return "", None
    found = TIME.fullmatch(text_at(packed, "time") or "")
    time = datetime.strptime("".join(found.groups()), "%Y-%m-%d %I:%M:%S %p%z") if found else None
    return text_at(packed, "message") or "", time


def _loaded(text: str) -> Object | None:
    try:
        loaded = json.loads(text) if text.lstrip().startswith("{") else None
    except (ValueError, RecursionError):
        return None
    return loaded if isinstance(loaded, dict) else None
