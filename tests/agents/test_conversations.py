"""Our conversation store beside pydantic-ai's own in-memory one: the same calls, the same outcomes."""

import asyncio
import itertools
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pydantic_ai import Agent
from pydantic_ai.conversation import Conversation
from pydantic_ai.conversation_store import (
    ConversationConflict,
    ConversationRecord,
    ConversationStore,
    InMemoryConversationStore,
)
from pydantic_ai.exceptions import UserError
from pydantic_ai.models.test import TestModel

from commonplace import AsyncMemory, LedgerUnavailable
from commonplace.agents import MemoryCapability, MemoryConversationStore
from commonplace.agents.conversations import CLAIM, RECORDS
from commonplace.domain.states import State
from tests.backends import Backend
from tests.learning.test_stories import apart


async def story(store: ConversationStore) -> list[object]:
    """Do what a store can do, and return what can be seen of it, without what is drawn at random."""
    agent, seen = Agent(TestModel(call_tools=[])), list[object]()
    for conversation, said in itertools.product(("a", "b"), ("One", "Two")):
        loaded = await store.load(conversation) or Conversation(conversation_id=conversation)
        entries = await store.save(await agent.run(said, conversation=loaded), scope=f"of {conversation}")
        seen.append(len(entries))
    stale = await store.load("a")
    branched = await store.load("a")
    assert stale is not None and branched is not None and branched.revision is not None
    branched = await store.branch("a", at=2, expected_revision=branched.revision)
    seen.append(len(await store.save(await agent.run("Another two", conversation=branched))))
    with pytest.raises(ConversationConflict):
        await store.save(await agent.run("Too late", conversation=stale))
    await store.fork("a", at=2, new_conversation_id="c", scope="of c")
    with pytest.raises(ConversationConflict):
        await store.fork("a", new_conversation_id="b")
    with pytest.raises(UserError):
        await store.fork("nobody")
    await store.delete("a", scope="of b")
    await store.delete("a")
    for conversation in "abc":
        whole, window = await store.load(conversation), await store.load(conversation, limit=1)
        seen.append([_plain(one) for one in whole.messages] if whole else None)
        seen.append(len(window.messages) if window else None)
        seen.append(whole.usage.requests if whole else None)
    seen.append([(one.conversation_id, one.scope, one.forked_from) for one in await store.list_conversations()])
    seen.append([one.conversation_id for one in await store.list_conversations(scope="of b", limit=1)])
    seen.append(await store.load("b", scope="of c"))
    return seen


def _plain(message: object) -> list[object]:
    return [getattr(part, "content", None) for part in message.parts]  # type: ignore[attr-defined]


async def test_it_behaves_like_the_one_of_pydantic_ai() -> None:
    async with AsyncMemory.ephemeral(embedder=apart) as memory:
        assert await story(MemoryConversationStore(memory, user="u1")) == await story(InMemoryConversationStore())


async def test_what_is_said_is_recalled_learned_and_forgotten_like_everything_else() -> None:
    async with AsyncMemory.ephemeral(embedder=apart) as memory:
        store = MemoryConversationStore(memory, user="u1")
        agent = Agent(TestModel(call_tools=[]))
        result = await agent.run("I live in Paris", conversation=Conversation(conversation_id="a"))
        await store.save(result)
        assert [fact.value for fact in await memory.facts(user="u1")] == ["Paris"]
        assert await MemoryConversationStore(memory, user="u2").load("a") is None
        await memory.forget(session="a", user="u1")
        assert await store.load("a") is None
        assert list(await memory.facts(user="u1")) == []


async def test_what_was_recalled_for_a_run_is_not_kept_with_it() -> None:
    async with AsyncMemory.ephemeral(embedder=apart) as memory:
        await memory.add("I live in Paris", user="u1")
        store = MemoryConversationStore(memory, user="u1")
        capability = MemoryCapability(memory, user="u1", record=False)
        agent = Agent(TestModel(call_tools=[]), instructions="Be kind.", capabilities=[capability])
        result = await agent.run("Where do I live?", conversation=Conversation(conversation_id="a"))
        assert "Paris" in str(result.all_messages()[0])
        await store.save(result)
        loaded = await store.load("a")
        assert loaded is not None and "Paris" not in str(loaded.messages) and "Be kind." in str(loaded.messages)


class Meeting(MemoryConversationStore):
    """A store that goes on, after it has looked, when the other one has looked, too."""

    def __init__(self, memory: AsyncMemory, met: asyncio.Barrier) -> None:
        super().__init__(memory, user="u1")
        self._met = met

    async def _record(self, state: State) -> ConversationRecord | None:
        found = await super()._record(state)
        await self._met.wait()
        return found


@pytest.mark.backends("ledgers")
@pytest.mark.parametrize("started", [False, True], ids=["a new conversation", "one that has begun"])
async def test_of_two_processes_that_save_one_conversation_at_once_one_is_told(
    started: bool, backend: Backend, tmp_path: Path
) -> None:
    agent = Agent(TestModel(call_tools=[]))
    async with (
        AsyncMemory.open(**backend.at(tmp_path), embedder=apart) as one,
        AsyncMemory.open(**backend.at(tmp_path), embedder=apart) as other,
    ):
        if started:
            first = await agent.run("I live in Paris", conversation=Conversation(conversation_id="a"))
            await MemoryConversationStore(one, user="u1").save(first)
        met = asyncio.Barrier(2)
        results = [
            await agent.run(said, conversation=await _begun(memory)) for memory, said in ((one, "One"), (other, "Two"))
        ]
        saves = [Meeting(memory, met).save(result) for memory, result in zip((one, other), results, strict=True)]
        outcomes = await asyncio.gather(*saves, return_exceptions=True)
        assert sorted(type(outcome).__name__ for outcome in outcomes) == ["ConversationConflict", "list"]
        won = "One" if isinstance(outcomes[0], list) else "Two"
        loaded = await MemoryConversationStore(other, user="u1").load("a")
        assert loaded is not None and won in str(loaded.messages)
        said = [message.text for message in await one.messages(user="u1") if message.role == "user"]
        assert said == (["I live in Paris"] if started else []) + [won]


async def _begun(memory: AsyncMemory) -> Conversation:
    return await MemoryConversationStore(memory, user="u1").load("a") or Conversation(conversation_id="a")


async def test_a_save_that_was_killed_in_the_middle_keeps_nobody_out_for_long() -> None:
    async with AsyncMemory.ephemeral(embedder=apart) as memory:
        clock = [datetime(2026, 5, 1, tzinfo=UTC)]
        store = MemoryConversationStore(memory, user="u1", now=lambda: clock[0])
        agent = Agent(TestModel(call_tools=[]))
        await store.save(await agent.run("One", conversation=Conversation(conversation_id="a")))
        state = memory.session(f"{RECORDS}a", user="u1")
        await state.update({CLAIM: {"by": "a process that is no more", "until": "2026-05-01T00:01:00+00:00"}})
        loaded = await store.load("a")
        assert loaded is not None
        result = await agent.run("Two", conversation=loaded)
        with pytest.raises(ConversationConflict):
            await store.save(result)
        clock[0] += timedelta(minutes=1)
        assert len(await store.save(result)) == 2
        assert CLAIM not in await state.get()


async def test_a_save_that_fails_lets_the_next_one_in(monkeypatch: pytest.MonkeyPatch) -> None:
    async with AsyncMemory.ephemeral(embedder=apart) as memory:
        store = MemoryConversationStore(memory, user="u1")
        result = await Agent(TestModel(call_tools=[])).run("One", conversation=Conversation(conversation_id="a"))

        async def refuse(*_: object, **__: object) -> None:
            raise LedgerUnavailable("the disk is full")

        with monkeypatch.context() as full:
            full.setattr(memory, "add", refuse)
            with pytest.raises(LedgerUnavailable):
                await store.save(result)
        assert len(await store.save(result)) == 2
