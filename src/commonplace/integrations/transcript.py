"""A conversation as a framework keeps it: each message is one of ours, with the framework's own in its metadata.

So what the user says there is learned from and recalled elsewhere, and what is taken back is forgotten for good.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from commonplace.domain.errors import NotFound
from commonplace.domain.values import Json, Message, Role
from commonplace.sync import Memory

PAGE = 1_000


@dataclass(frozen=True, slots=True)
class Line:
    """One message: what it says, and what the framework wants back."""

    role: Role
    text: str
    whole: Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """Named `session`, of one user. `key` is the framework's place in the metadata of messages."""

    memory: Memory
    session: str
    user: str | None
    key: str
    learn: bool = True

    def latest(self, limit: int | None = None) -> list[Message]:
        """Return the last messages, oldest first; all of them without a limit."""
        found: list[Message] = []
        cursor = None
        while limit is None or len(found) < limit:
            size = PAGE if limit is None else min(PAGE, limit - len(found))
            page = self.memory.messages(session=self.session, user=self.user, limit=size, cursor=cursor)
            found = [*page, *found]
            if (cursor := page.next_cursor) is None:
                break
        return found

    def whole(self, message: Message) -> Any:
        """Return what the framework gave; None for a message that was added by other means."""
        return message.metadata.get(self.key)

    def add(self, lines: Sequence[Line]) -> None:
        given = [{"role": line.role, "content": line.text, "metadata": {self.key: line.whole}} for line in lines]
        if given:
            self.memory.add(given, user=self.user, session=self.session, learn=self.learn)

    def forget(self, message: Message) -> bool:
        """Forget a message, with what was learned from it alone. Returns whether it was still there."""
        try:
            self.memory.forget(message=message.id, user=self.user)
        except NotFound:
            return False
        return True

    def clear(self) -> None:
        """Forget the conversation, with what was learned from it alone."""
        if self.latest(1):
            self.memory.forget(session=self.session, user=self.user)
