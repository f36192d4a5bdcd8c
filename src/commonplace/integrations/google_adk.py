"""Google ADK's memory service: sessions are kept as messages and learned from; a search recalls facts and messages.

ADK hands in whole sessions, again and again. An event has an id, so it is one message; and what was forgotten here does
not come back with its session: the receipts tell.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, cast
from urllib.parse import quote

import anyio.to_thread

from commonplace.care.barring import Barring
from commonplace.domain.archive import KeptMessage
from commonplace.domain.errors import NotFound
from commonplace.domain.values import Json, Message, MessageId, Recalled, Role, SessionId
from commonplace.integrations.extras import needing
from commonplace.sync import Memory

with needing("google-adk"):
    from google.adk.events import Event
    from google.adk.memory import BaseMemoryService
    from google.adk.memory.base_memory_service import SearchMemoryResponse
    from google.adk.memory.memory_entry import MemoryEntry
    from google.adk.sessions import Session
    from google.genai import types

Owner = Callable[[str, str], str]


def app_and_user(app_name: str, user_id: str) -> str:
    """Name an owner as ADK does: what an app knows of a user is not known to another app."""
    return f"{quote(app_name, safe='')}/{user_id}"


class MemoryService(BaseMemoryService):
    """`Runner(…, memory_service=MemoryService(memory))`. `owner` makes our user of ADK's app and user."""

    def __init__(self, memory: Memory, *, owner: Owner = app_and_user, limit: int = 10) -> None:
        self._memory, self._owner, self._limit = memory, owner, limit

    async def add_session_to_memory(self, session: Session) -> None:
        await self.add_events_to_memory(
            app_name=session.app_name, user_id=session.user_id, events=session.events, session_id=session.id
        )

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Event],
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Keep what events say, and learn from what the user said in them. An event that is known is left alone."""
        said = [message for event in events if (message := _message(event, session_id)) is not None]
        metadata = cast(Mapping[str, Json], custom_metadata or {})
        owner = self._owner(app_name, user_id)
        await anyio.to_thread.run_sync(self._keep, owner, said, metadata)

    async def add_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        memories: Sequence[MemoryEntry],
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Write each entry as a fact, word for word."""

        def write() -> None:
            for entry in memories:
                metadata = {**entry.custom_metadata, **(custom_metadata or {})}
                self._memory.remember(_text(entry.content), user=self._owner(app_name, user_id), metadata=metadata)

        await anyio.to_thread.run_sync(write)

    async def search_memory(self, *, app_name: str, user_id: str, query: str) -> SearchMemoryResponse:
        def search() -> Sequence[Recalled]:
            return self._memory.recall(query, user=self._owner(app_name, user_id), limit=self._limit)

        return SearchMemoryResponse(memories=[_entry(hit) for hit in await anyio.to_thread.run_sync(search)])

    async def delete_memory(self, *, app_name: str, user_id: str, memory_id: str | None = None) -> None:
        """Forget one fact or message that a search returned. An id that nobody has is no error, as in ADK."""
        if memory_id:  # none would name the whole user
            await anyio.to_thread.run_sync(self._forget, self._owner(app_name, user_id), memory_id)

    def _keep(self, owner: str, said: Sequence[Message], metadata: Mapping[str, Json]) -> None:
        barring = Barring(self._memory.receipts(user=owner), told=lambda message: message.at)
        lines = [_line(message) for message in said if not barring.bars(KeptMessage(message=message))]
        if lines:
            self._memory.add(lines, user=owner, session=said[0].session, metadata=metadata)

    def _forget(self, owner: str, memory_id: str) -> None:
        try:
            self._memory.forget(user=owner, fact=memory_id)
        except NotFound:
            try:
                self._memory.forget(user=owner, message=memory_id)
            except NotFound:
                return


def _message(event: Event, session: str | None) -> Message | None:
    """Return what an event says; None for one without words, as the call of a tool."""
    text = _text(event.content) if event.content else ""
    if not text.strip():
        return None
    role: Role = "user" if event.author == "user" else "assistant"
    at = datetime.fromtimestamp(event.timestamp, UTC)
    name = None if role == "user" else event.author or None
    place = None if session is None else SessionId(session)
    return Message(id=MessageId(event.id), role=role, text=text, at=at, recorded_at=at, session=place, name=name)


def _line(message: Message) -> dict[str, Any]:
    line = {"id": message.id, "role": message.role, "content": message.text, "at": message.at}
    return line | ({"name": message.name} if message.name else {})


def _text(content: types.Content) -> str:
    """Thoughts of the model are not said."""
    return "\n".join(part.text for part in content.parts or () if part.text and not part.thought)


def _entry(hit: Recalled) -> MemoryEntry:
    text = f"{hit.text} ({hit.note})" if hit.note else hit.text
    return MemoryEntry(
        id=hit.id,
        content=types.Content(role="model" if hit.role == "assistant" else "user", parts=[types.Part(text=text)]),
        author=hit.name or hit.role or "user",
        timestamp=hit.at.isoformat(),
        custom_metadata={**hit.metadata, "kind": hit.kind},
    )
