"""ChatGPT's data export: `conversations.json`, one of the numbered files of a large one, or the zip it comes in.

A conversation is a tree, because a message can be edited and an answer made again. What is read is the branch that was
shown last: from `current_node` up to the root.
"""

from collections.abc import Iterator
from datetime import datetime

from commonplace.care.importers.making import Object, Said, an_object, moment, object_at, role_of, text_at
from commonplace.care.importers.source import Source
from commonplace.domain.archive import OfUser
from commonplace.domain.errors import InvalidInput
from commonplace.domain.imports import Bad, Item, Reading, Taken
from commonplace.domain.values import Json

TEXTS = {"text", "multimodal_text", "code", "execution_output"}


def read(source: Source, reading: Reading) -> Iterator[Item]:
    yield Taken("the beginning", OfUser(reading.user))
    for number, value in enumerate(source.values(), start=1):
        place = f"conversation {number}"
        try:
            conversation = an_object(value)
            branch = _branch(conversation)
        except InvalidInput as error:
            yield Bad(place, str(error))
            continue
        yield from _messages(conversation, branch, place, reading)


def _branch(conversation: Object) -> list[Object]:
    """Return the nodes from the root to the one shown last."""
    mapping, node = object_at(conversation, "mapping"), conversation.get("current_node")
    if not mapping:
        raise InvalidInput("has no mapping: expected a conversation of ChatGPT")
    if not isinstance(node, str) or node not in mapping:
        node = _latest(mapping)
    branch: dict[str, Object] = {}
    while isinstance(node, str) and node in mapping:
        if node in branch:
            raise InvalidInput(f"node {node!r} is its own ancestor")
        branch[node] = object_at(mapping, node)
        node = branch[node].get("parent")
    return list(reversed(branch.values()))


def _latest(mapping: Object) -> Json:
    def said_at(node: str) -> float:
        at = object_at(object_at(mapping, node), "message").get("create_time")
        return float(at) if isinstance(at, int | float) else 0.0

    return max(mapping, key=said_at)


def _messages(conversation: Object, branch: list[Object], place: str, reading: Reading) -> Iterator[Item]:
    session = text_at(conversation, "conversation_id", "id") or reading.session
    title = text_at(conversation, "title")
    last: datetime | None = None
    for node in branch:
        message = object_at(node, "message")
        text = _text(message)
        if not text:
            continue
        where = f"{place}, message {message.get('id')}"
        try:
            last = moment(message.get("create_time")) or last or moment(conversation.get("create_time")) or reading.now
            said = Said(
                id=message.get("id") or node.get("id"),
                role=role_of(object_at(message, "author").get("role")),
                text=text,
                at=last,
                recorded_at=reading.now,
                session=session,
                name=object_at(message, "author").get("name"),
                metadata={"title": title} if title else {},
            )
            yield Taken(where, said.kept())
        except InvalidInput as error:
            yield Bad(where, str(error))


def _text(message: Object) -> str:
    """Return what was written or spoken; pictures, thoughts, calls of tools and what was hidden are left out."""
    content = object_at(message, "content")
    if object_at(message, "metadata").get("is_visually_hidden_from_conversation") is True:
        return ""
    if content.get("content_type", "text") not in TEXTS or message.get("recipient") not in (None, "all"):
        return ""
    parts = content.get("parts")
    written = [_part(part) for part in parts] if isinstance(parts, list) else []
    return "\n".join(part for part in written if part.strip()) or text_at(content, "text") or ""


def _part(part: Json) -> str:
    if isinstance(part, dict) and part.get("content_type") == "audio_transcription":
        return text_at(part, "text") or ""
    return part if isinstance(part, str) else ""
