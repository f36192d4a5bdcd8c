"""Claude's data export: `conversations.json`, or the zip it comes in."""

from collections.abc import Iterator

from commonplace.care.importers.making import Object, Said, an_object, moment, objects_at, role_of, text_at
from commonplace.care.importers.source import Source
from commonplace.domain.archive import OfUser
from commonplace.domain.errors import InvalidInput
from commonplace.domain.imports import Bad, Item, Reading, Taken


def read(source: Source, reading: Reading) -> Iterator[Item]:
    yield Taken("the beginning", OfUser(reading.user))
    for number, value in enumerate(source.values(), start=1):
        place = f"conversation {number}"
        try:
            conversation = an_object(value)
            if not isinstance(conversation.get("chat_messages"), list):
                raise InvalidInput("has no chat_messages: expected a conversation of Claude")  # noqa: TRY301
        except InvalidInput as error:
            yield Bad(place, str(error))
            continue
        yield from _messages(conversation, place, reading)


def _messages(conversation: Object, place: str, reading: Reading) -> Iterator[Item]:
    session, title = text_at(conversation, "uuid") or reading.session, text_at(conversation, "name")
    for message in objects_at(conversation, "chat_messages"):
        text = _text(message)
        if not text:
            continue
        where = f"{place}, message {message.get('uuid')}"
        try:
            said = Said(
                id=message.get("uuid"),
                role=role_of(message.get("sender")),
                text=text,
                at=moment(message.get("created_at")) or moment(conversation.get("created_at")) or reading.now,
                recorded_at=reading.now,
                session=session,
                metadata={"title": title} if title else {},
            )
            yield Taken(where, said.kept())
        except InvalidInput as error:
            yield Bad(where, str(error))


def _text(message: Object) -> str:
    """Return what was written. Thinking and the use of tools are left out."""
    blocks = [block for block in objects_at(message, "content") if block.get("type", "text") == "text"]
    written = [text for block in blocks if (text := text_at(block, "text"))]
    return "\n".join(written) or text_at(message, "text") or ""
