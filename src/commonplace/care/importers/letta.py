"""Letta's agent files (.af), of both forms: one agent with `core_memory`, or lists of `agents` and `blocks`.

Blocks become blocks, messages become messages; one agent is one conversation.
"""

from collections.abc import Iterator

from commonplace.care.importers.making import Object, Said, an_object, made_id, moment, objects_at, role_of, text_at
from commonplace.care.importers.source import Source
from commonplace.domain.archive import OfUser
from commonplace.domain.errors import InvalidInput
from commonplace.domain.imports import Bad, Item, Reading, Taken
from commonplace.domain.inputs import parse_name, parse_text
from commonplace.domain.values import Block


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
    session = reading.session or text_at(agent, "id", "name")
    for number, message in enumerate(objects_at(agent, "messages"), start=1):
        text, where = _text(message), f"{place}, message {number}"
        if not text:
            continue
        try:
            said = Said(
                id=message.get("id") or made_id(session, number, text),
                role=role_of(message.get("role")),
                text=text,
                at=moment(message.get("created_at")) or moment(agent.get("created_at")) or reading.now,
                recorded_at=reading.now,
                session=session,
                name=message.get("name"),
            )
            yield Taken(where, said.kept())
        except InvalidInput as error:
            yield Bad(where, str(error))


def _text(message: Object) -> str:
    """Return what was written; thoughts and calls of tools are left out."""
    blocks = [one for one in objects_at(message, "content") if one.get("type", "text") == "text"]
    return "\n".join(text for one in blocks if (text := text_at(one, "text"))) or text_at(message, "content") or ""
