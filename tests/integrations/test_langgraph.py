"""LangGraph's store on Commonplace, beside LangGraph's own store in memory, which says what is right."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langgraph.store.base import BaseStore, GetOp, IndexConfig, ListNamespacesOp, MatchCondition, PutOp, SearchOp
from langgraph.store.memory import InMemoryStore

from commonplace import InvalidInput, Memory
from commonplace.integrations.langgraph import MemoryStore
from tests.integrations.examples import Staging


def test_the_story_is_told_over_four_runs_of_the_example(
    tmp_path: Path, environment: dict[str, str], runner: Staging
) -> None:
    run = runner("langgraph_store.py", environment)
    folder = str(tmp_path / "memory")
    assert run(folder, "I use Shram and Magnet as productivity tools") == "Noted.\n"
    assert "Shram and Magnet" in run(folder, "What productivity tools do I use?")
    run(folder, "I use Shram as a productivity tool, and not the other one anymore")
    after = run(folder, "What productivity tools do I use?")
    assert "Shram" in after and "Magnet" not in after


def test_what_is_put_away_is_recalled_and_forgotten_like_everything_else(memory: Memory) -> None:
    store = MemoryStore(memory, user="alex")
    store.put(("likes",), "drink", {"text": "Alex drinks oolong tea"})
    assert "oolong" in str(memory.context("what does Alex drink?", user="alex"))
    assert MemoryStore(memory, user="ben").search(("likes",)) == []
    store.delete(("likes",), "drink")
    assert list(memory.facts(user="alex")) == []
    store.put(("likes",), "drink", {"text": "coffee"})
    memory.forget(user="alex")
    assert store.get(("likes",), "drink") is None


def test_two_keys_may_hold_the_same_and_one_key_keeps_its_first_date(memory: Memory) -> None:
    store = MemoryStore(memory, user="same")
    store.put(("a",), "1", {"text": "the same words"})
    store.put(("a",), "2", {"text": "the same words"})
    first = store.get(("a",), "1")
    store.put(("a",), "1", {"text": "other words"})
    again, other = store.get(("a",), "1"), store.get(("a",), "2")
    assert first is not None and again is not None and other is not None
    assert (again.value["text"], other.value["text"]) == ("other words", "the same words")
    assert again.created_at == first.created_at < again.updated_at


def test_a_query_finds_by_meaning_or_words_what_was_indexed(memory: Memory) -> None:
    store = MemoryStore(memory, user="search", index={"fields": ["text"]})
    store.put(("docs",), "1", {"text": "Python is a language for programs", "secret": "tulips"})
    store.put(("docs",), "2", {"text": "A recipe for potato soup"})
    store.put(("docs",), "3", {"text": "Python, hidden"}, index=False)
    store.put(("docs",), "4", {"title": "Python in the title", "text": "nothing"}, index=["title"])
    found = store.search(("docs",), query="Python programs", limit=2)
    assert [item.key for item in found] == ["1", "4"]
    assert found[0].score is not None and found[0].score > (found[1].score or 0)
    assert "3" not in [item.key for item in store.search(("docs",), query="hidden", limit=10)]
    pages = [store.search(("docs",), query="Python", limit=1, offset=offset)[0].key for offset in (0, 1)]
    assert sorted(pages) == ["1", "4"]


def test_an_index_of_langgraph_is_taken_when_it_is_of_the_memorys_model(memory: Memory) -> None:
    def embed(texts: Sequence[str]) -> list[list[float]]:
        return [list(map(float, vector)) for vector in memory.embed(list(texts))]

    async def aembed(texts: Sequence[str]) -> list[list[float]]:
        return embed(texts)

    index: IndexConfig = {"dims": len(embed(["x"])[0]), "embed": embed, "fields": ["text", "more[*].note"]}
    ours, theirs = MemoryStore(memory, user="index", index=index), InMemoryStore(index=index)
    for store in (ours, theirs):
        store.put(("a",), "tea", {"text": "Ana drinks oolong tea", "hidden": "ferries to the island"})
        store.put(("a",), "boat", {"text": "x", "more": [{"note": "the timetable of ferries"}]})
        assert [one.key for one in store.search(("a",), query="ferries to the island", limit=1)] == ["boat"]
    MemoryStore(memory, index={"embed": aembed})


def test_an_index_of_another_model_is_refused_and_told_what_to_do(memory: Memory) -> None:
    with pytest.raises(InvalidInput, match=r"index\['dims'\]=3: the memory's model has 384"):
        MemoryStore(memory, index={"dims": 3})
    for length in (3, 384):
        with pytest.raises(InvalidInput, match="expected Memory.open"):
            MemoryStore(memory, index={"embed": lambda texts, length=length: [[1.0] * length for _ in texts]})


def test_an_item_with_a_ttl_goes_unless_it_is_read(memory: Memory) -> None:
    store = MemoryStore(memory, user="ttl", ttl={"refresh_on_read": True, "default_ttl": None})
    store.put(("a",), "gone", {"text": "gone at once"}, ttl=1e-9)
    store.put(("a",), "kept", {"text": "kept for a while"}, ttl=10)
    assert store.get(("a",), "gone") is None
    before = memory.facts(user="ttl")[0].expires_at
    assert [item.key for item in store.search(("a",))] == ["kept"]
    after = memory.facts(user="ttl")[0].expires_at
    assert before is not None and after is not None and after > before


def test_a_default_ttl_holds_unless_another_is_given_and_a_read_may_leave_it_alone(memory: Memory) -> None:
    store = MemoryStore(memory, user="default", ttl={"refresh_on_read": False, "default_ttl": 10})
    store.put(("a",), "k", {"text": "for ten minutes"})
    store.put(("a",), "always", {"text": "for ever"}, ttl=None)

    def expiry() -> dict[str, Any]:
        return {fact.text: fact.expires_at for fact in memory.facts(user="default")}

    before = expiry()
    assert before["for ten minutes"] is not None and before["for ever"] is None
    store.get(("a",), "k")
    store.search(("a",), query="ten minutes")
    assert expiry() == before
    store.get(("a",), "k", refresh_ttl=True)
    assert expiry()["for ten minutes"] > before["for ten minutes"]


async def test_the_async_calls_are_the_same(memory: Memory) -> None:
    store = MemoryStore(memory, user="async")
    await store.aput(("a", "b"), "k", {"text": "hello"})
    found = await store.aget(("a", "b"), "k")
    assert found is not None and found.value == {"text": "hello"}
    assert [item.key for item in await store.asearch(("a",))] == ["k"]
    assert await store.alist_namespaces(prefix=("a",)) == [("a", "b")]
    await store.adelete(("a", "b"), "k")
    assert await store.aget(("a", "b"), "k") is None


namespaces = st.sampled_from([("a",), ("a", "b"), ("a", "b", "c"), ("b",), ("b", "été"), ("ab",)])
keys = st.sampled_from(["1", "2", "日本"])
values = st.fixed_dictionaries(
    {
        "n": st.integers(0, 3),
        "tag": st.sampled_from(["x", "y", None]),
        "deep": st.fixed_dictionaries({"m": st.booleans()}),
    }
)
filters = st.sampled_from(
    [
        None,
        {"n": 2},
        {"n": {"$gte": 1}},
        {"n": {"$gt": 0, "$lt": 3}},
        {"n": {"$ne": 1}, "tag": "x"},
        {"tag": None},
        {"deep": {"m": True}},
    ]
)
conditions = st.sampled_from(
    [
        None,
        (MatchCondition("prefix", ("a",)),),
        (MatchCondition("suffix", ("b",)),),
        (MatchCondition("prefix", ("*", "b")), MatchCondition("suffix", ("c",))),
    ]
)
# A built NamedTuple would draw its other fields as well.
operations = st.one_of(
    st.tuples(namespaces, keys, values | st.none()).map(lambda drawn: PutOp(*drawn)),
    st.tuples(namespaces, keys, values).map(lambda drawn: PutOp(*drawn)),
    st.tuples(namespaces, keys).map(lambda drawn: GetOp(*drawn)),
    st.tuples(namespaces | st.just(()), filters).map(lambda drawn: SearchOp(*drawn, limit=100)),
    st.tuples(conditions, st.sampled_from([None, 1, 2]), st.sampled_from([1, 2, 100]), st.sampled_from([0, 1])).map(
        lambda drawn: ListNamespacesOp(*drawn)
    ),
)


def answers(store: BaseStore, ops: list[Any]) -> list[object]:
    return [plain(one) for one in store.batch(ops)]


def plain(result: Any) -> object:
    """Leave out moments, and the order of a search without a query, which is not promised."""
    if isinstance(result, list):
        return sorted((plain(one) for one in result), key=repr)
    return (result.namespace, result.key, result.value) if hasattr(result, "value") else result


@settings(max_examples=25)
@given(st.lists(st.lists(operations, min_size=1, max_size=4), min_size=1, max_size=5))
def test_each_batch_answers_as_the_store_of_langgraph_does(memory: Memory, batches: list[list[Any]]) -> None:
    memory.forget(user="oracle")
    ours, theirs = MemoryStore(memory, user="oracle"), InMemoryStore()
    for batch in batches:
        # theirs lists namespaces in which there is nothing any more, or was only looked for
        for empty in [name for name, items in theirs._data.items() if not items]:
            del theirs._data[empty]
        reads = [op for op in batch if not isinstance(op, GetOp)]
        assert answers(ours, reads) == answers(theirs, reads)
        gets = [op for op in batch if isinstance(op, GetOp)]
        assert answers(ours, gets) == answers(theirs, gets)


def test_a_ttl_beyond_the_calendar_is_refused(memory: Memory) -> None:
    with pytest.raises(ValueError, match="expected minutes"):
        MemoryStore(memory, user="ttl").put(("a",), "k", {"text": "x"}, ttl=1e12)
