"""LangChain's chat history on a session. A message is kept whole in the metadata of ours: tool calls come back, too."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from langchain_core.chat_history import BaseChatMessageHistory
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, message_to_dict, messages_from_dict

from commonplace.domain.values import Json, Message, Role
from commonplace.integrations.transcript import Line, Transcript
from commonplace.sync import Memory

KEY = "langchain"
ROLES: Mapping[str, Role] = {"human": "user", "ai": "assistant", "system": "system"}


class MemoryChatHistory(BaseChatMessageHistory):
    """One conversation of one user. What the user says in it is learned from, unless `learn` is off."""

    def __init__(self, session_id: str, memory: Memory, *, user: str | None = None, learn: bool = True) -> None:
        self.session_id = session_id
        self._transcript = Transcript(memory=memory, session=session_id, user=user, key=KEY, learn=learn)

    @property
    def messages(self) -> list[BaseMessage]:  # type: ignore[override]
        return [self._their(message) for message in self._transcript.latest()]

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        self._transcript.add([_our(message) for message in messages])

    def clear(self) -> None:
        """Forget the conversation, with what was learned from it alone."""
        self._transcript.clear()

    def _their(self, message: Message) -> BaseMessage:
        kept = self._transcript.whole(message)
        if kept is not None:
            return messages_from_dict([cast(dict[str, Any], kept)])[0]
        return HumanMessage(message.text) if message.role == "user" else AIMessage(message.text)


def _our(message: BaseMessage) -> Line:
    text = message.text if message.text.strip() else f"({message.type})"
    return Line(ROLES.get(message.type, "tool"), text, cast(Json, message_to_dict(message)))
