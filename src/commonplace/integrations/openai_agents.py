"""The OpenAI Agents SDK's Session on ours: each item of a conversation is a message, whole in its metadata.

So what the user says there is learned from and recalled in other conversations, and what is popped or cleared is
forgotten for good. It takes a `Memory`, which has a loop of its own, because `Runner.run_sync` brings another one.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

import anyio.to_thread

from commonplace.domain.values import Json, Message, Role
from commonplace.integrations.extras import needing
from commonplace.integrations.transcript import Line, Transcript
from commonplace.sync import Memory

with needing("openai-agents"):
    from agents import SessionSettings, TResponseInputItem
    from agents.memory.session_settings import resolve_session_limit

KEY = "openai_agents"
ROLES: Mapping[object, Role] = {"user": "user", "assistant": "assistant", "system": "system", "developer": "system"}


class MemorySession:
    """One conversation of one user: `Runner.run(agent, said, session=MemorySession("s1", memory, user="alex"))`."""

    def __init__(
        self,
        session_id: str,
        memory: Memory,
        *,
        user: str | None = None,
        learn: bool = True,
        session_settings: SessionSettings | None = None,
    ) -> None:
        self.session_id = session_id
        self.session_settings: SessionSettings | None = session_settings or SessionSettings()
        self._transcript = Transcript(memory=memory, session=session_id, user=user, key=KEY, learn=learn)

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """Return the items, oldest first; the latest `limit` of them."""
        wanted = resolve_session_limit(limit, self.session_settings)
        messages = await anyio.to_thread.run_sync(self._transcript.latest, wanted)
        return [self._item(message) for message in messages]

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        lines = [_line(cast(Mapping[str, Any], item)) for item in items]
        await anyio.to_thread.run_sync(self._transcript.add, lines)

    async def pop_item(self) -> TResponseInputItem | None:
        """Take back the last item: it is forgotten, with what was learned from it alone."""
        return await anyio.to_thread.run_sync(self._pop)

    async def clear_session(self) -> None:
        """Forget the conversation, with what was learned from it alone."""
        await anyio.to_thread.run_sync(self._transcript.clear)

    def _pop(self) -> TResponseInputItem | None:
        last = self._transcript.latest(1)
        gone = bool(last) and self._transcript.forget(last[0])  # not, if somebody else was faster
        return self._item(last[0]) if gone else None

    def _item(self, message: Message) -> TResponseInputItem:
        """Return an item as it was given; a message that was added by other means, as what was said."""
        kept = self._transcript.whole(message)
        said = {"role": "assistant" if message.role == "tool" else message.role, "content": message.text}
        return cast(TResponseInputItem, said if kept is None else kept)


def _line(item: Mapping[str, Any]) -> Line:
    text = "\n".join(part for part in _words(item) if part.strip())
    role = ROLES.get(item.get("role"), "tool")
    return Line(role, text or f"({item.get('type', 'message')})", cast(Json, dict(item)))


def _words(item: Mapping[str, Any]) -> Iterator[str]:
    """Yield what an item says: the texts of its content, the name of a tool that is called, or what it returned."""
    for content in (item.get("content"), item.get("name"), item.get("output")):
        if isinstance(content, str):
            yield content
        elif isinstance(content, Sequence):
            yield from (part["text"] for part in content if isinstance(part.get("text"), str))
