"""LangChain's chat history on a session. A message is kept whole in the metadata of ours: tool calls come back, too."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from langchain_core.chat_history import BaseChatMessageHistory
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, message_to_dict, messages_from_dict

from commonplace.domain.values import Json, Message, Role
from commonplace.sync import Memory

KEY = "langchain"
PAGE = 1_000
ROLES: Mapping[str, Role] = {"human": "user", "ai": "assistant", "system": "system"}


class MemoryChatHistory(BaseChatMessageHistory):
    """One conversation of one user. What the user says in it is learned from, unless `learn` is off."""

    def __init__(self, session_id: str, memory: Memory, *, user: str | None = None, learn: bool = True) -> None:
        self.session_id = session_id
        self._memory, self._user, self._learn = memory, user, learn

    @property
    def messages(self) -> list[BaseMessage]:  # type: ignore[override]
        found: list[Message] = []
        cursor = None
        while True:
            page = self._memory.messages(session=self.session_id, user=self._user, limit=PAGE, cursor=cursor)
            found = [*page, *found]
            if (cursor := page.next_cursor) is None:
                return [_their(message) for message in found]

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        if messages:
            ours = [_our(message) for message in messages]
            self._memory.add(ours, user=self._user, session=self.session_id, learn=self._learn)

    def clear(self) -> None:
        """Forget the conversation, with what was learned from it alone."""
        if self._memory.messages(session=self.session_id, user=self._user, limit=1):
            self._memory.forget(session=self.session_id, user=self._user)


def _our(message: BaseMessage) -> dict[str, Any]:
    return {
        "role": ROLES.get(message.type, "tool"),
        "content": message.text if message.text.strip() else f"({message.type})",
        "metadata": {KEY: cast(Json, message_to_dict(message))},
    }


def _their(message: Message) -> BaseMessage:
    kept = message.metadata.get(KEY)
    if kept is not None:
        return messages_from_dict([cast(dict[str, Any], kept)])[0]
    return HumanMessage(message.text) if message.role == "user" else AIMessage(message.text)
