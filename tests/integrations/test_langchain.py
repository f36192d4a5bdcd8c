"""LangChain's retriever and chat history on Commonplace."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from commonplace import Memory
from commonplace.integrations.langchain import MemoryChatHistory, MemoryRetriever
from tests.integrations.examples import runner


@pytest.fixture(scope="module")
def memory() -> Iterator[Memory]:
    with Memory.ephemeral() as memory:
        yield memory


def test_the_story_is_told_over_four_runs_of_the_example(tmp_path: Path, environment: dict[str, str]) -> None:
    run = runner("langchain_memory.py", environment)
    folder = str(tmp_path / "memory")
    run(folder, "I use Shram and Magnet as productivity tools")
    before = run(folder, "What productivity tools do I use?")
    assert "Shram" in before and "Magnet" in before
    run(folder, "I don't use Magnet anymore")
    after = run(folder, "What productivity tools do I use?")
    assert "Shram" in after and "Magnet" not in after


async def test_a_retriever_returns_documents_of_its_user_alone(memory: Memory) -> None:
    memory.add("I use Shram and Magnet as productivity tools", user="alex", metadata={"topic": "work"})
    memory.add("I don't use Magnet anymore", user="alex")
    retriever = MemoryRetriever(memory=memory, user="alex", where={"topic": "work"})
    found = retriever.invoke("which tools do I use?")
    assert [one.id for one in found] == [one.id for one in await retriever.ainvoke("which tools do I use?")]
    assert [one.metadata["kind"] for one in found] == ["fact", "message"]
    assert "Magnet: no longer" in found[1].page_content
    assert len(retriever.invoke("which tools do I use?", k=1)) == 1
    assert MemoryRetriever(memory=memory, user="ben").invoke("which tools do I use?") == []


async def test_a_history_comes_back_as_it_was_and_is_learned_from(memory: Memory) -> None:
    said: list[BaseMessage] = [
        SystemMessage("Be brief"),
        HumanMessage("I live in Oslo", name="Cleo"),
        AIMessage("", tool_calls=[{"name": "weather", "args": {"city": "Oslo"}, "id": "c1", "type": "tool_call"}]),
        ToolMessage("Rain", tool_call_id="c1"),
        AIMessage([{"type": "text", "text": "It rains. 日本"}]),
    ]
    ours = MemoryChatHistory("s1", memory, user="cleo")
    ours.add_messages(said[:2])
    await ours.aadd_messages(said[2:])
    ours.add_messages([])
    assert MemoryChatHistory("s1", memory, user="cleo").messages == await ours.aget_messages() == said
    assert [fact.text for fact in memory.facts(user="cleo")] == ["User lives in Oslo"]
    assert MemoryChatHistory("s1", memory, user="ben").messages == []
    ours.clear()
    ours.clear()
    assert ours.messages == []
    assert list(memory.facts(user="cleo")) == []


def test_what_was_added_by_other_means_is_part_of_the_history(memory: Memory) -> None:
    memory.add([{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi"}], user="dan", session="s2")
    assert MemoryChatHistory("s2", memory, user="dan").messages == [HumanMessage("Hello"), AIMessage("Hi")]
