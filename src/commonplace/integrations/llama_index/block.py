"""LlamaIndex's memory block: what is known of the user, for the message that is to be answered."""

from typing import Any

import anyio.to_thread
from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.bridge.pydantic import Field
from llama_index.core.memory import BaseMemoryBlock

from commonplace.integrations.llama_index.lines import line, transcript
from commonplace.sync import Memory


class RecallBlock(BaseMemoryBlock[str]):
    """The context for the user's last message. What falls out of LlamaIndex's short-term memory is kept, and learned.

    With `accept_short_term_memory=False` it only recalls: beside a chat store that keeps every message itself.
    """

    name: str = "commonplace"
    memory: Memory = Field(exclude=True)
    user: str | None = None
    budget: int = 800
    """Tokens."""

    async def _aget(
        self, messages: list[ChatMessage] | None = None, session_id: str | None = None, **block_kwargs: Any
    ) -> str:
        said = [message.content or "" for message in messages or () if message.role is MessageRole.USER]

        def context() -> str:
            query = said[-1] if said else ""
            return str(self.memory.context(query, user=self.user, session=session_id, budget=self.budget))

        return await anyio.to_thread.run_sync(context)

    async def _aput(self, messages: list[ChatMessage]) -> None:
        sessions: dict[str, list[ChatMessage]] = {}
        for message in messages:
            sessions.setdefault(str(message.additional_kwargs.get("session_id", self.name)), []).append(message)
        for session, said in sessions.items():
            kept = transcript(self.memory, session, self.user, learn=True)
            await anyio.to_thread.run_sync(kept.add, [line(message) for message in said])
