"""Where the words of attachments stand: after those of the message, as if it went on with them.

So a place in a passage tells whose words it is. An image, which has no words, is a passage of no length at its place.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from commonplace.domain.media import IMAGES
from commonplace.domain.values import Attachment, Message
from commonplace.recall.passages import passages


class Carried(NamedTuple):
    """A passage of a message, or of something that it carries."""

    start: int
    stop: int
    text: str
    attachment: Attachment | None = None

    @property
    def is_image(self) -> bool:
        return self.start == self.stop and self.attachment is not None


def carried(message: Message) -> list[Carried]:
    """Return the passages of a message in the order of its index rows: its own, its files', then its images."""
    text = message.text
    own = [Carried(start, stop, text[start:stop]) for start, stop in passages(text)]
    if not message.attachments:
        return own
    placed = list(_placed(message))
    read = [
        Carried(base + start, base + stop, one.text[start:stop], one)
        for base, one in placed
        if one.text
        for start, stop in passages(one.text)
    ]
    return [*own, *read, *(Carried(base, base, "", one) for base, one in placed if one.type in IMAGES)]


def captions(message: Message) -> str | None:
    """Return what the things that a message shares are called."""
    given = message.metadata.get("caption")
    named = [given if isinstance(given, str) else "", *(called(one) for one in message.attachments)]
    return "; ".join(one for one in named if one) or None


def called(attachment: Attachment) -> str:
    """Return what an attachment is called: its caption and its name, or else its type."""
    return " ".join(one for one in (attachment.caption, attachment.name) if one) or attachment.type


def _placed(message: Message) -> Iterator[tuple[int, Attachment]]:
    base = len(message.text) + 1
    for one in message.attachments:
        yield base, one
        base += len(one.text) + 1


def words_at(message: Message, start: int, stop: int) -> str:
    """Return the words of a passage, wherever they stand; none for an image."""
    if stop <= len(message.text):
        return message.text[start:stop]
    return "\n".join([message.text, *(one.text for one in message.attachments)])[start:stop]


def without_text(attachments: Sequence[Attachment]) -> tuple[Attachment, ...]:
    return tuple(
        Attachment(id=one.id, type=one.type, size=one.size, name=one.name, caption=one.caption) for one in attachments
    )
