"""LlamaIndex's messages, and a conversation of them on a session of ours."""

from collections.abc import Mapping, Sequence
from typing import cast

from llama_index.core.base.llms.types import ChatMessage, MessageRole

from commonplace.domain.values import Json, Message, Role
from commonplace.integrations.transcript import Line, Transcript
from commonplace.sync import Memory

KEY = "llama_index"
ROLES: Mapping[str, Role] = {
    "user": "user",
    "assistant": "assistant",
    "chatbot": "assistant",
    "model": "assistant",
    "system": "system",
    "developer": "system",
}


def transcript(memory: Memory, session: str, user: str | None, *, learn: bool) -> Transcript:
    return Transcript(memory=memory, session=session, user=user, key=KEY, learn=learn)


def line(message: ChatMessage) -> Line:
    text = (message.content or "").strip() or f"({message.role.value})"
    return Line(ROLES.get(message.role.value, "tool"), text, cast(Json, message.model_dump(mode="json")))


def theirs(message: Message) -> ChatMessage:
    """Return a message as it was given; one that was added by other means, as what was said."""
    kept = message.metadata.get(KEY)
    if kept is not None:
        return ChatMessage.model_validate(kept)
    role = MessageRole.ASSISTANT if message.role == "tool" else MessageRole(message.role)
    return ChatMessage(content=message.text, role=role)


def put_in_place(conversation: Transcript, messages: Sequence[ChatMessage]) -> None:
    """Make it consist of these. What it begins with already stays, with what was learned from it."""
    there = conversation.latest()
    same = 0
    while same < min(len(there), len(messages)) and theirs(there[same]) == messages[same]:
        same += 1
    for message in reversed(there[same:]):
        conversation.forget(message)
    conversation.add([line(message) for message in messages[same:]])


def taken_back(conversation: Transcript, messages: Sequence[Message]) -> list[ChatMessage]:
    """Forget messages, and return those that were still there."""
    return [theirs(message) for message in messages if conversation.forget(message)]
