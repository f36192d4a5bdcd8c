"""LangChain's retriever, chat history and vector store on Commonplace."""

from pathlib import Path

import pytest
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from commonplace import InvalidInput, Memory
from commonplace.integrations.langchain import MemoryChatHistory, MemoryRetriever, MemoryVectorStore
from tests.integrations.examples import Staging


def test_the_story_is_told_over_four_runs_of_the_example(
    tmp_path: Path, environment: dict[str, str], runner: Staging
) -> None:
    run = runner("langchain_memory.py", environment)
    folder = str(tmp_path / "memory")
    run(folder, "I use Shram and Magnet as productivity tools")
    before = run(folder, "What productivity tools do I use?")
    assert "Shram" in before and "Magnet" in before
    run(folder, "I don't use Magnet anymore")
    after = run(folder, "What productivity tools do I use?")
    assert "Shram" in after and "Magnet" not in after


def test_a_note_is_found_in_another_process_and_corrected_there(
    tmp_path: Path, environment: dict[str, str], runner: Staging
) -> None:
    run = runner("langchain_vectors.py", environment)
    both, one, asked = "I use Shram and Magnet as productivity tools", "I use Shram only", "Which tools do I use?"
    assert run(str(tmp_path / "memory"), both) == ""
    assert run(str(tmp_path / "memory"), asked, one, asked) == f"{both}\n{one}\n"


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


async def test_documents_are_found_filtered_and_known_to_recall(memory: Memory) -> None:
    store = MemoryVectorStore(memory, user="eve")
    store.add_texts(
        ["Shram is a productivity tool", "Soup needs potatoes", "Magnet moves windows about"],
        [{"topic": "work", "stars": 3}, {"topic": "food"}, {"topic": "work", "stars": 1}],
        ids=["shram", "soup", "magnet"],
    )
    scored = store.similarity_search_with_relevance_scores("Which tool makes me productive?", k=3)
    assert [document.id for document, _ in scored][0] == "shram"
    assert [score for _, score in scored] == sorted((score for _, score in scored), reverse=True)
    found = await store.asimilarity_search("tools", k=9, filter={"topic": "work", "$or": [{"stars": {"$gte": 2}}]})
    assert [(document.id, document.metadata) for document in found] == [("shram", {"topic": "work", "stars": 3})]
    assert store.similarity_search("tools", k=0) == []
    assert "potatoes" in str(memory.context("What does a soup need?", user="eve"))
    assert MemoryVectorStore(memory, user="ben").similarity_search("tools") == []
    assert MemoryVectorStore(memory, user="eve", collection="other").similarity_search("tools") == []
    assert store.delete() is True
    assert store.similarity_search("tools") == []
    assert list(memory.facts(user="eve")) == []


def test_a_varied_choice_leaves_out_what_is_said_already(memory: Memory) -> None:
    texts = ["Alex likes green tea", "Alex likes green tea a lot", "Alex dislikes loud music"]
    store = MemoryVectorStore.from_texts(texts, memory=memory, user="fay")
    alike = [document.page_content for document in store.similarity_search("Does Alex like green tea?", k=2)]
    varied = store.max_marginal_relevance_search("Does Alex like green tea?", k=2, fetch_k=3, lambda_mult=0.1)
    assert set(alike) == set(texts[:2])
    assert texts[2] in [document.page_content for document in varied]
    assert MemoryVectorStore(memory, user="nobody").max_marginal_relevance_search("tea") == []
    chosen = store.as_retriever(search_type="mmr", search_kwargs={"k": 1}).invoke("green tea")
    assert len(chosen) == 1
    assert store.embeddings.embed_query("tea") == pytest.approx(store.embeddings.embed_documents(["x", "tea"])[1])


def test_wrong_documents_are_refused_by_name(memory: Memory) -> None:
    store = MemoryVectorStore(memory, user="gus")
    with pytest.raises(InvalidInput, match="2 texts, 2 metadatas, 1 ids"):
        store.add_texts(["a", "b"], ids=["1"])
    with pytest.raises(InvalidInput, match="the memory embeds"):
        MemoryVectorStore.from_texts(["a"], DeterministicFakeEmbedding(size=3), memory=memory)
    with pytest.raises(InvalidInput, match="metadata"):
        store.add_texts(["a"], [{"when": object()}])
    with pytest.raises(InvalidInput, match="unknown operator"):
        store.similarity_search("a", filter={"n": {"$near": 1}})
    assert store.add_texts([]) == []
    assert store.add_texts(["one", "two"], ids=["same", "same"]) == ["same", "same"]
    assert [document.page_content for document in store.get_by_ids(["same", "none", "same"])] == ["two"]
