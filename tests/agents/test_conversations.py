"""Our conversation store beside pydantic-ai's own in-memory one: the same calls, the same outcomes."""

import itertools

import pytest
from pydantic_ai import Agent
from pydantic_ai.conversation import Conversation
from pydantic_ai.conversation_store import ConversationConflict, ConversationStore, InMemoryConversationStore
from pydantic_ai.exceptions import UserError
from pydantic_ai.models.test import TestModel

from commonplace import AsyncMemory
from commonplace.agents import MemoryCapability, MemoryConversationStore
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
