"""pydantic-ai's ConversationStore on our sessions: each entry is a message of its session, whole in its metadata.

So what was said there is recalled, learned from and forgotten like everything else: a forgotten message is gone from
the conversation, and one whose last message was forgotten is not there any more. What the model was told of our memory
is cut out of what is kept. The record of a conversation is the state of a session of its own, which nothing else
touches. Of several that save the same conversation at the same moment, here or in other processes, one succeeds: who
writes claims the record first, and the ledger compares what was read when it is written.
"""

import re
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, cast
from uuid import uuid4

from pydantic import TypeAdapter
from pydantic_ai.conversation_store import (
    ConversationConflict,
    ConversationEntry,
    ConversationRecord,
    ConversationStore,
)
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, TextPart, UserPromptPart

from commonplace.agents.capability import text_of
from commonplace.domain.errors import CommonplaceError, Conflict, NotFound
from commonplace.domain.states import State
from commonplace.domain.values import Json
from commonplace.memory import AsyncMemory

KEY = "pydantic_ai"
CLAIM = "pydantic_ai claim"
CLAIMED = timedelta(minutes=1)
"""How long a record is left to who claimed it: somebody who was killed in the middle does not keep it for ever."""
RECORDS = "pydantic-ai conversation "
LIFE = 10 * 365 * 86_400.0
"""Seconds: the longest that a session may live. Each save begins it anew."""
FENCE = re.compile(r"\s*<memory>.*?</memory>", re.DOTALL)
MESSAGE: TypeAdapter[ModelMessage] = TypeAdapter(ModelMessage)
RECORD: TypeAdapter[ConversationRecord] = TypeAdapter(ConversationRecord)


class MemoryConversationStore(ConversationStore):
    """The conversations of one user. Give `learn=False` where another part learns from what the user says."""

    def __init__(
        self,
        memory: AsyncMemory,
        *,
        user: str | None = None,
        learn: bool = True,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._memory, self._user, self._learn, self._now = memory, user, learn, now

    async def read_record(self, conversation_id: str) -> ConversationRecord | None:
        return await self._record(await self._state(conversation_id).get())

    async def read_records(self, *, scope: str | None = None, limit: int | None = None) -> Sequence[ConversationRecord]:
        ids = [
            one.id.removeprefix(RECORDS) for one in await self._memory.sessions(user=self._user) if _is_record(one.id)
        ]
        found = [record for one in ids if (record := await self.read_record(one))]
        wanted = [record for record in found if scope is None or record.scope == scope]
        return sorted(wanted, key=lambda record: record.updated_at, reverse=True)[:limit]

    async def write_record(
        self,
        record: ConversationRecord,
        *,
        new_entries: Sequence[ConversationEntry] = (),
        expected_revision: str | None,
    ) -> None:
        async with self._claimed(record.conversation_id, expected_revision) as (claim, _):
            fresh = {entry.id for entry in new_entries}
            if record.head_id is not None and record.head_id not in fresh and not await self._holds(record.head_id):
                raise ConversationConflict(record.conversation_id)
            for entry in new_entries:
                await self._keep(record.conversation_id, entry)
            kept = cast(Json, RECORD.dump_python(record, mode="json"))
            await self._exchange(record.conversation_id, {KEY: kept, CLAIM: None}, expected={CLAIM: claim})

    async def delete_record(self, conversation_id: str, *, expected_revision: str) -> None:
        """Delete the record, and forget for good every entry that no other conversation reaches."""
        async with self._claimed(conversation_id, expected_revision) as (_, gone):
            reached = await self._reached(await self.read_records(), gone)
            await self._memory.forget(session=RECORDS + conversation_id, user=self._user)
            for tip in [gone.head_id, *gone.branches] if gone else []:
                for entry in await self.read_history(tip):
                    if entry.id not in reached:
                        await self._memory.forget(message=entry.id, user=self._user)

    async def read_entry(self, entry_id: str) -> ConversationEntry:
        try:
            kept = cast(dict[str, Any], (await self._memory.message(entry_id, user=self._user)).metadata[KEY])
        except NotFound as error:
            raise KeyError(entry_id) from error
        message = MESSAGE.validate_python(kept["message"])
        return ConversationEntry(id=entry_id, parent_id=kept["parent"], message=message)

    async def read_history(self, head_id: str | None, *, limit: int | None = None) -> list[ConversationEntry]:
        """Return the entries up to `head_id`; they begin after one that was forgotten."""
        entries: list[ConversationEntry] = []
        next_id = head_id
        while next_id is not None and (limit is None or len(entries) < limit):
            if entries and not await self._holds(next_id):
                break
            entries.append(await self.read_entry(next_id))
            next_id = entries[-1].parent_id
        return entries[::-1]

    def _state(self, conversation_id: str) -> Any:
        return self._memory.session(RECORDS + conversation_id, user=self._user, ttl=LIFE)

    async def _record(self, state: State) -> ConversationRecord | None:
        if (kept := state.get(KEY)) is None:
            return None
        record = RECORD.validate_python(kept)
        return record if record.head_id is None or await self._holds(record.head_id) else None

    @asynccontextmanager
    async def _claimed(
        self, conversation_id: str, revision: str | None
    ) -> AsyncIterator[tuple[Json, ConversationRecord | None]]:
        """Keep others from writing it. Raises ConversationConflict if it is claimed, or not of that revision."""
        state = await self._state(conversation_id).get()
        stored, held = await self._record(state), cast(Mapping[str, str] | None, state.get(CLAIM))
        claimed = held is not None and datetime.fromisoformat(held["until"]) > self._now()
        if claimed or (stored.revision if stored else None) != revision:
            raise ConversationConflict(conversation_id)
        claim: Json = {"by": str(uuid4()), "until": (self._now() + CLAIMED).isoformat()}
        read = {KEY: state.get(KEY), CLAIM: state.get(CLAIM)}
        await self._exchange(conversation_id, {CLAIM: claim}, expected=read)
        try:
            yield claim, stored
        except BaseException:
            await self._give_up(conversation_id, claim)
            raise

    async def _exchange(self, conversation_id: str, values: State, *, expected: State) -> None:
        try:
            await self._state(conversation_id).exchange(values, expected=expected)
        except Conflict as error:
            raise ConversationConflict(conversation_id) from error

    async def _give_up(self, conversation_id: str, claim: Json) -> None:
        """Let others in at once. Where that fails, too, they come in when the claim is over."""
        with suppress(CommonplaceError, ConversationConflict):
            await self._exchange(conversation_id, {CLAIM: None}, expected={CLAIM: claim})

    async def _holds(self, entry_id: str) -> bool:
        try:
            await self._memory.message(entry_id, user=self._user)
        except NotFound:
            return False
        return True

    async def _keep(self, conversation_id: str, entry: ConversationEntry) -> None:
        role, text = _shown(entry.message)
        kept = MESSAGE.dump_python(_without_memory(entry.message), mode="json")
        await self._memory.add(
            {
                "role": role,
                "content": text,
                "id": entry.id,
                "metadata": {KEY: {"parent": entry.parent_id, "message": kept}},
            },
            user=self._user,
            session=conversation_id,
            learn=self._learn,
        )

    async def _reached(self, records: Sequence[ConversationRecord], gone: ConversationRecord | None) -> set[str]:
        tips = [
            tip
            for one in records
            if gone is None or one.conversation_id != gone.conversation_id
            for tip in (one.head_id, *one.branches)
        ]
        return {entry.id for tip in tips for entry in await self.read_history(tip)}


def _is_record(session: str) -> bool:
    return session.startswith(RECORDS)


def _without_memory(message: ModelMessage) -> ModelMessage:
    """What was recalled for one request is not kept a second time: it must be gone when it is forgotten."""
    if isinstance(message, ModelRequest) and message.instructions and "<memory>" in message.instructions:
        return replace(message, instructions=FENCE.sub("", message.instructions) or None)
    return message


def _shown(message: ModelMessage) -> tuple[str, str]:
    """Return who speaks, and the words: those of a user's prompt, of an answer, or what a tool returned."""
    if isinstance(message, ModelResponse):
        words = "".join(part.content for part in message.parts if isinstance(part, TextPart))
        return "assistant", words if words.strip() else "(called a tool)"
    said = "\n".join(text_of(part.content) for part in message.parts if isinstance(part, UserPromptPart))
    if said.strip():
        return "user", said
    return "tool", "(what a tool returned)" if message.parts else "(nothing)"
