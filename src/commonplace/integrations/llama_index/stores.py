"""LlamaIndex's two kinds of chat stores: one for its buffers, and an asynchronous one for its `Memory`.

The names of conversations are the sessions of one user. Messages that `Memory` has archived stay messages of ours; the
state of the session has a mark up to which they are archived.
"""

from collections.abc import Sequence
from typing import cast

import anyio.to_thread
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.bridge.pydantic import ConfigDict, Field
from llama_index.core.storage.chat_store import BaseChatStore
from llama_index.core.storage.chat_store.base_db import AsyncDBChatStore, MessageStatus

from commonplace.domain.errors import InvalidInput
from commonplace.domain.values import Json, Message
from commonplace.integrations.llama_index.lines import line, put_in_place, taken_back, theirs, transcript
from commonplace.integrations.transcript import Transcript
from commonplace.sync import Memory

MARK = "llama_index_archived"
LONG = 3_650 * 86_400
"""Ten years, in seconds: what is archived stays so."""


class MemoryChatStore(BaseChatStore):
    """The conversations of one user, for `ChatMemoryBuffer` and its kin. What the user says is learned from."""

    model_config = ConfigDict(arbitrary_types_allowed=True)
    memory: Memory = Field(exclude=True)
    user: str | None = None
    learn: bool = True

    @classmethod
    def class_name(cls) -> str:
        return "MemoryChatStore"

    def _conversation(self, key: str) -> Transcript:
        return transcript(self.memory, key, self.user, learn=self.learn)

    def set_messages(self, key: str, messages: list[ChatMessage]) -> None:
        put_in_place(self._conversation(key), messages)

    def get_messages(self, key: str) -> list[ChatMessage]:
        return [theirs(message) for message in self._conversation(key).latest()]

    def add_message(self, key: str, message: ChatMessage) -> None:
        self._conversation(key).add([line(message)])

    def delete_messages(self, key: str) -> list[ChatMessage] | None:
        """Forget a conversation, with what was learned from it alone."""
        conversation = self._conversation(key)
        found = [theirs(message) for message in conversation.latest()]
        conversation.clear()
        return found or None

    def delete_message(self, key: str, idx: int) -> ChatMessage | None:
        """Forget the message at a place, from 0, with what was learned from it alone."""
        conversation = self._conversation(key)
        gone = taken_back(conversation, conversation.latest()[idx:][:1])
        return gone[0] if gone else None

    def delete_last_message(self, key: str) -> ChatMessage | None:
        return self.delete_message(key, -1)

    def get_keys(self) -> list[str]:
        """Return the conversations that are going on."""
        return [session.id for session in self.memory.sessions(user=self.user)]


class MemoryDBChatStore(AsyncDBChatStore):
    """The conversations of one user: `Memory.from_defaults(session_id, chat_store=MemoryDBChatStore(memory=…))`."""

    model_config = ConfigDict(arbitrary_types_allowed=True)
    memory: Memory = Field(exclude=True)
    user: str | None = None
    learn: bool = True

    async def get_messages(
        self,
        key: str,
        status: MessageStatus | None = MessageStatus.ACTIVE,
        limit: int | None = None,
        offset: int | None = None,
    ) -> list[ChatMessage]:
        found = await anyio.to_thread.run_sync(self._with_status, key, status)
        start = offset or 0
        return [theirs(message) for message in found[start : None if limit is None else start + limit]]

    async def count_messages(self, key: str, status: MessageStatus | None = MessageStatus.ACTIVE) -> int:
        return len(await self.get_messages(key, status))

    async def add_message(self, key: str, message: ChatMessage, status: MessageStatus = MessageStatus.ACTIVE) -> None:
        await self.add_messages(key, [message], status)

    async def add_messages(
        self, key: str, messages: list[ChatMessage], status: MessageStatus = MessageStatus.ACTIVE
    ) -> None:
        await anyio.to_thread.run_sync(self._add, key, messages, status)

    async def set_messages(
        self, key: str, messages: list[ChatMessage], status: MessageStatus = MessageStatus.ACTIVE
    ) -> None:
        def put() -> None:
            conversation = self._conversation(key)
            put_in_place(conversation, messages)
            self._archive(key, conversation.latest() if status is MessageStatus.ARCHIVED else ())

        await anyio.to_thread.run_sync(put)

    async def delete_message(self, key: str, idx: int) -> ChatMessage | None:
        """Forget the message at a place, from 0: our ids are no numbers."""

        def take() -> list[ChatMessage]:
            conversation = self._conversation(key)
            return taken_back(conversation, conversation.latest()[idx:][:1])

        gone = await anyio.to_thread.run_sync(take)
        return gone[0] if gone else None

    async def delete_messages(self, key: str, status: MessageStatus | None = None) -> None:
        """Forget messages, with what was learned from them alone."""

        def clear() -> None:
            conversation = self._conversation(key)
            if status is None:
                conversation.clear()
            else:
                taken_back(conversation, self._with_status(key, status))

        await anyio.to_thread.run_sync(clear)

    async def delete_oldest_messages(self, key: str, n: int) -> list[ChatMessage]:
        def take() -> list[ChatMessage]:
            return taken_back(self._conversation(key), self._with_status(key, MessageStatus.ACTIVE)[:n])

        return await anyio.to_thread.run_sync(take)

    async def archive_oldest_messages(self, key: str, n: int) -> list[ChatMessage]:
        def archive() -> list[ChatMessage]:
            oldest = self._with_status(key, MessageStatus.ACTIVE)[:n]
            if oldest:
                self._archive(key, oldest)
            return [theirs(message) for message in oldest]

        return await anyio.to_thread.run_sync(archive)

    async def get_keys(self) -> list[str]:
        """Return the conversations that are going on."""
        found = await anyio.to_thread.run_sync(lambda: self.memory.sessions(user=self.user))
        return [session.id for session in found]

    def _conversation(self, key: str) -> Transcript:
        return transcript(self.memory, key, self.user, learn=self.learn)

    def _add(self, key: str, messages: Sequence[ChatMessage], status: MessageStatus) -> None:
        archived = status is MessageStatus.ARCHIVED
        if archived and self._with_status(key, MessageStatus.ACTIVE):
            raise InvalidInput(f"status={status.value!r}: expected 'active', because there are active ones before it")
        conversation = self._conversation(key)
        conversation.add([line(message) for message in messages])
        if archived:
            self._archive(key, conversation.latest(1))

    def _with_status(self, key: str, status: MessageStatus | None) -> list[Message]:
        found = self._conversation(key).latest()
        if status is None or not found:
            return found
        mark = self.memory.session(key, user=self.user, ttl=LONG).get().get(MARK)
        archived = _place(found, cast(list[str], mark)) if mark else 0
        return found[archived:] if status is MessageStatus.ACTIVE else found[:archived]

    def _archive(self, key: str, messages: Sequence[Message]) -> None:
        """Put the mark behind the last of these; without any, take it away."""
        mark: Json = [messages[-1].id, messages[-1].at.isoformat()] if messages else None
        self.memory.session(key, user=self.user, ttl=LONG).update({MARK: mark})


def _place(messages: Sequence[Message], mark: Sequence[str]) -> int:
    """Return how many are before the mark; by the date, when the message it stands behind has been forgotten."""
    ids: list[str] = [message.id for message in messages]
    if mark[0] in ids:
        return ids.index(mark[0]) + 1
    return sum(message.at.isoformat() <= mark[1] for message in messages)
