"""LlamaIndex's memory block and chat stores: its real agent, and its own stores beside ours."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.llms import ChatMessage, ImageBlock, MessageRole, TextBlock
from llama_index.core.llms.mock import MockFunctionCallingLLM
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.memory import Memory as ShortTermMemory
from llama_index.core.storage.chat_store import SimpleChatStore
from llama_index.core.storage.chat_store.base_db import AsyncDBChatStore, MessageStatus
from llama_index.core.storage.chat_store.sql import SQLAlchemyChatStore
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from commonplace import InvalidInput, Memory
from commonplace.integrations.llama_index import MemoryChatStore, MemoryDBChatStore, RecallBlock
from tests.integrations.examples import Staging

TOOLS, ASKED = "I use Shram and Magnet as productivity tools", "What productivity tools do I use?"


@asynccontextmanager
async def in_process() -> AsyncIterator[AsyncEngine]:
    engine = create_async_engine("sqlite+aiosqlite://")
    yield engine
    await engine.dispose()


def test_the_example_is_told_asked_and_corrected_in_two_processes(
    tmp_path: Path, environment: dict[str, str], runner: Staging
) -> None:
    run = runner("llama_index_memory.py", environment)
    folder = str(tmp_path / "memory")
    run(folder, TOOLS)
    before, after = run(folder, ASKED, "I don't use Magnet anymore", ASKED).split("Noted.")
    assert "Shram" in before and "Magnet" in before
    assert "Shram" in after and "Magnet" not in after


# LlamaIndex's agent looks at every attribute of itself, at those that pydantic has given up as well.
@pytest.mark.filterwarnings("ignore::pydantic.warnings.PydanticDeprecatedSince20")
@pytest.mark.filterwarnings("ignore::pydantic.warnings.PydanticDeprecatedSince211")
async def test_an_agent_remembers_across_conversations_tools_included(memory: Memory) -> None:
    prompts: list[list[ChatMessage]] = []

    def model(messages: Sequence[ChatMessage], **_: Any) -> ChatMessage:
        prompts.append(list(messages))
        return ChatMessage(role="assistant", content="Understood.")

    def conversation() -> ShortTermMemory:
        return ShortTermMemory.from_defaults(
            session_id=str(uuid4()),
            chat_store=MemoryDBChatStore(memory=memory, user="alex"),
            memory_blocks=[RecallBlock(memory=memory, user="alex", accept_short_term_memory=False)],
        )

    agent = FunctionAgent(llm=MockFunctionCallingLLM(response_generator=model))
    monday = conversation()
    await agent.run("I live in Oslo", memory=monday)
    await agent.run("Thanks", memory=monday)
    assert [message.role.value for message in prompts[-1] if message.role.value != "system"] == [
        *("user", "assistant", "user"),
    ]
    await agent.run("Where do I live?", memory=conversation())
    assert "User lives in Oslo" in str(prompts[-1][0].content)
    assert [fact.text for fact in memory.facts(user="alex")] == ["User lives in Oslo"]


async def test_a_block_keeps_what_falls_out_of_the_short_term_memory(memory: Memory) -> None:
    block = RecallBlock(memory=memory, user="bea")
    asked = [ChatMessage(role="user", content="Where do I live?")]
    assert await block.aget(asked, session_id="s2") == ""
    async with in_process() as engine:
        short = ShortTermMemory.from_defaults(
            session_id="s1", token_limit=60, chat_history_token_ratio=0.5, memory_blocks=[block], async_engine=engine
        )
        for text in ("I live in Oslo", "Hello there, how are you today? " * 3, "What a fine day it is again. " * 3):
            await short.aput(ChatMessage(role="user", content=text))
            await short.aput(ChatMessage(role="assistant", content="I see."))
    assert [message.session for message in memory.messages(user="bea")][0] == "s1"
    assert "Oslo" in await block.aget(asked, session_id="s2")


def test_a_buffer_comes_back_as_it_was_in_another_process(memory: Memory) -> None:
    said = [
        ChatMessage(role="system", content="Be brief"),
        ChatMessage(role="user", content="I live in Rome"),
        ChatMessage(role="assistant", content="", additional_kwargs={"tool_calls": [{"id": "c1"}]}),
        ChatMessage(role="tool", content="Rain", additional_kwargs={"tool_call_id": "c1"}),
        ChatMessage(
            role="assistant", blocks=[TextBlock(text="It rains. 日本"), ImageBlock(url="http://localhost/x.png")]
        ),
    ]
    store = MemoryChatStore(memory=memory, user="cleo")
    for message in said:
        ChatMemoryBuffer.from_defaults(chat_store=store, chat_store_key="c1", token_limit=9_999).put(message)
    assert MemoryChatStore(memory=memory, user="cleo").get_messages("c1") == said
    assert MemoryChatStore(memory=memory, user="ben").get_messages("c1") == []
    assert [fact.text for fact in memory.facts(user="cleo")] == ["User lives in Rome"]
    assert store.delete_messages("c1") == said
    assert list(memory.facts(user="cleo")) == []


def test_a_conversation_that_is_set_again_keeps_what_it_begins_with(memory: Memory) -> None:
    store = MemoryChatStore(memory=memory, user="dan")
    first, second = ChatMessage(role="user", content="I live in Rome"), ChatMessage(role="user", content="Hello")
    store.set_messages("c1", [first, second])
    kept = memory.messages(user="dan")[0].id
    store.set_messages("c1", [first])
    assert [message.id for message in memory.messages(user="dan")] == [kept]
    memory.add({"role": "tool", "content": "by other means"}, user="dan", session="c1")
    assert store.get_messages("c1")[-1] == ChatMessage(role="assistant", content="by other means")


async def test_what_is_archived_stays_before_what_is_active(memory: Memory) -> None:
    store = MemoryDBChatStore(memory=memory, user="eve")
    await store.add_message("c1", ChatMessage(role="user", content="old"), MessageStatus.ARCHIVED)
    await store.add_message("c1", ChatMessage(role="user", content="new"))
    with pytest.raises(InvalidInput, match="expected 'active'"):
        await store.add_message("c1", ChatMessage(role="user", content="late"), MessageStatus.ARCHIVED)
    memory.forget(message=memory.messages(user="eve", session="c1")[0].id, user="eve")
    assert [message.content for message in await store.get_messages("c1")] == ["new"]


texts = st.sampled_from(["one", "two", "two", "日本"])
messages = st.builds(ChatMessage, role=st.sampled_from([MessageRole.USER, MessageRole.ASSISTANT]), content=texts)
names = st.sampled_from(["a", "b"])
several = st.lists(messages, max_size=3)
calls = st.one_of(
    st.tuples(st.just("add_message"), names, messages),
    st.tuples(st.just("set_messages"), names, several),
    st.tuples(st.just("get_messages"), names),
    st.tuples(st.just("delete_message"), names, st.integers(0, 3)),
    st.tuples(st.just("delete_last_message"), names),
    st.tuples(st.just("delete_messages"), names),
)


def answer(store: Any, call: tuple[Any, ...]) -> object:
    """What a call returns; an empty list is there for some and not for others."""
    name, *arguments = call
    try:
        return getattr(store, name)(*arguments) or None
    except IndexError:
        return None


@settings(max_examples=15)
@given(st.lists(calls, min_size=2, max_size=10))
def test_each_call_answers_as_the_simple_store_does(memory: Memory, script: list[tuple[Any, ...]]) -> None:
    memory.forget(user="oracle")
    ours, theirs = MemoryChatStore(memory=memory, user="oracle", learn=False), SimpleChatStore()
    for call in script:
        assert answer(ours, call) == answer(theirs, call), call
    there = {key for key, kept in theirs.store.items() if kept}
    assert there <= set(ours.get_keys())


statuses = st.sampled_from([None, MessageStatus.ACTIVE, MessageStatus.ARCHIVED])
queue_calls = st.one_of(
    st.tuples(st.just("add_messages"), names, st.lists(messages, min_size=1, max_size=3)),
    st.tuples(st.just("set_messages"), names, several),
    st.tuples(st.just("get_messages"), names, statuses),
    st.tuples(st.just("count_messages"), names, statuses),
    st.tuples(st.just("archive_oldest_messages"), names, st.integers(1, 3)),
    st.tuples(st.just("delete_oldest_messages"), names, st.integers(1, 3)),
    st.tuples(st.just("delete_messages"), names, statuses),
)


@settings(max_examples=15)
@given(st.lists(queue_calls, min_size=2, max_size=10))
async def test_each_call_answers_as_the_store_on_sqlalchemy_does(memory: Memory, script: list[tuple[Any, ...]]) -> None:
    memory.forget(user="queue")
    ours: AsyncDBChatStore = MemoryDBChatStore(memory=memory, user="queue", learn=False)
    async with in_process() as engine:
        theirs = SQLAlchemyChatStore(table_name="oracle", async_engine=engine)
        for name, *arguments in script:
            answers = [await getattr(store, name)(*arguments) for store in (ours, theirs)]
            assert answers[0] == answers[1], (name, arguments)
