"""mem0's API on Commonplace. Shapes and arguments are those of mem0ai 2.2."""

import asyncio
import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from commonplace import InvalidInput
from commonplace.integrations.mem0 import AsyncMemory, Memory
from tests.integrations.examples import Staging

TOOLS = "I use Shram and Magnet as productivity tools"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path / "memory") as memory:
        yield memory


def texts(answer: dict[str, list[dict[str, Any]]]) -> list[str]:
    return [one["memory"] for one in answer["results"]]


def test_the_story_is_told_over_four_runs_of_the_example(
    tmp_path: Path, environment: dict[str, str], runner: Staging
) -> None:
    run = runner("mem0_api.py", environment)
    folder = str(tmp_path / "memory")
    assert run(folder, "tell", TOOLS).count("ADD") == 2
    before = run(folder, "ask", "What productivity tools do I use?")
    assert "Shram" in before and "Magnet" in before
    assert run(folder, "tell", "I don't use Magnet anymore").startswith("DELETE")
    after = run(folder, "ask", "What productivity tools do I use?")
    assert "Shram" in after and "Magnet" not in after


def test_what_add_and_search_return_has_the_shape_of_mem0(memory: Memory) -> None:
    messages = [{"role": "user", "content": TOOLS}, {"role": "assistant", "content": "Noted."}]
    added = memory.add(messages, user_id="alex", run_id="r1", metadata={"category": "tools"})
    assert [set(one) for one in added["results"]] == [{"id", "memory", "event"}] * 2
    hit = memory.search("which tools do I use?", filters={"user_id": "alex"}, top_k=1)["results"][0]
    assert set(hit) == {
        *("id", "memory", "hash", "created_at", "updated_at", "score"),
        *("user_id", "run_id", "metadata"),
    }
    assert (hit["user_id"], hit["run_id"], hit["metadata"]) == ("alex", "r1", {"category": "tools"})
    assert hit["id"] in {one["id"] for one in added["results"]}
    assert 0 < hit["score"] <= 1


def test_the_user_may_stand_in_the_filters_or_beside_them(memory: Memory) -> None:
    memory.add(TOOLS, user_id="alex")
    assert texts(memory.get_all(user_id="alex")) == texts(memory.get_all(filters={"user_id": "alex"}))
    assert len(memory.search("tools", user_id="alex")["results"]) == 2
    memory.add("I live in Paris", filters={"user_id": "alex"})
    assert len(memory.get_all(user_id="alex")["results"]) == 3
    with pytest.raises(ValueError, match="the filters say 'alex'"):
        memory.get_all(user_id="ben", filters={"user_id": "alex"})


@pytest.mark.parametrize(
    "nobody", [{}, {"user_id": "*"}, {"user_id": ""}, {"user_id": "a b"}, {"user_id": {"in": ["a"]}}]
)
def test_nobody_and_everybody_are_refused(memory: Memory, nobody: dict[str, Any]) -> None:
    for call in (memory.get_all, lambda filters: memory.search("tools", filters=filters)):
        with pytest.raises(ValueError, match="expected"):
            call(filters=nobody)
    with pytest.raises(ValueError, match="expected"):
        memory.add("hello", **nobody)


def test_no_filter_reaches_what_another_owner_has(memory: Memory) -> None:
    memory.add("I live in Rome", user_id="ben")
    memory.add("I live in Oslo", agent_id="ben")
    assert texts(memory.get_all(user_id="ben")) == ["User lives in Rome"]
    assert texts(memory.get_all(filters={"agent_id": "ben"})) == ["User lives in Oslo"]
    assert texts(memory.search("where?", filters={"user_id": "alex", "OR": [{"home": "*"}, {"x": {"ne": 1}}]})) == []
    with pytest.raises(InvalidInput, match="at the top"):
        memory.search("where?", filters={"user_id": "alex", "OR": [{"user_id": "ben"}]})


def test_metadata_filters_are_those_of_mem0(memory: Memory) -> None:
    for number, topic in enumerate(("food", "work", "sport")):
        memory.add(f"note {number}", user_id="alex", metadata={"topic": topic, "stars": number}, infer=False)

    def kept(**filters: Any) -> set[str]:
        return set(texts(memory.get_all(filters={"user_id": "alex", **filters})))

    assert kept(topic="food") == {"note 0"}
    assert kept(stars={"gte": 1}) == {"note 1", "note 2"}
    assert kept(stars={"gt": 0, "lt": 2}) == {"note 1"}
    assert kept(topic={"in": ["food", "sport"]}) == {"note 0", "note 2"}
    assert kept(OR=[{"topic": "food"}, {"stars": 2}]) == {"note 0", "note 2"}
    assert kept(NOT=[{"topic": "food"}, {"stars": 2}]) == {"note 1"}
    assert kept(AND=[{"topic": "*"}, {"stars": {"ne": 0}}]) == {"note 1", "note 2"}
    with pytest.raises(InvalidInput, match=r"unknown operator '\$icontains'"):
        kept(topic={"icontains": "FOO"})


def test_one_memory_can_be_read_changed_and_erased_by_its_id(memory: Memory) -> None:
    (added,) = memory.add("Likes tea", user_id="alex", infer=False)["results"]
    memory.update(added["id"], text="Likes green tea", metadata={"cups": 3}, expiration_date="2999-12-31")
    got = memory.get(added["id"])
    assert got is not None
    assert (got["memory"], got["metadata"], got["expiration_date"]) == ("Likes green tea", {"cups": 3}, "2999-12-31")
    told = [(row["event"], row["old_memory"], row["new_memory"]) for row in memory.history(added["id"])]
    assert told == [("ADD", None, "Likes tea"), ("UPDATE", "Likes tea", "Likes green tea")]
    memory.delete(added["id"])
    assert memory.get(added["id"]) is None
    assert memory.history(added["id"]) == []
    for call in (memory.delete, lambda id_: memory.update(id_, text="x")):
        with pytest.raises(ValueError, match="no memory has this id"):
            call(added["id"])


def test_a_memory_that_has_ended_is_gone_and_its_history_says_so(memory: Memory) -> None:
    added = memory.add(TOOLS, user_id="alex")["results"]
    magnet = next(one["id"] for one in added if "Magnet" in one["memory"])
    memory.add("I don't use Magnet anymore", user_id="alex")
    assert memory.get(magnet) is None
    assert [row["event"] for row in memory.history(magnet)] == ["ADD", "DELETE"]


def test_the_last_day_of_a_memory_is_one_on_which_it_is_still_there(memory: Memory) -> None:
    memory.add("old", user_id="alex", infer=False, expiration_date="2020-01-01")
    memory.add("new", user_id="alex", infer=False, expiration_date="2999-01-01")
    assert texts(memory.get_all(user_id="alex")) == ["new"]
    with pytest.raises(InvalidInput, match="expected YYYY-MM-DD"):
        memory.add("x", user_id="alex", expiration_date="tomorrow")


def test_delete_all_erases_an_owner_or_one_run_and_nobody_else(memory: Memory) -> None:
    memory.add("I live in Paris", user_id="alex", run_id="r1")
    memory.add("I work at Acme", user_id="alex", run_id="r2")
    memory.add("I live in Rome", user_id="ben")
    memory.delete_all(user_id="alex", run_id="r1")
    assert texts(memory.get_all(user_id="alex")) == ["User works at Acme"]
    memory.delete_all(user_id="alex")
    assert texts(memory.get_all(user_id="alex")) == []
    assert texts(memory.get_all(user_id="ben")) == ["User lives in Rome"]
    memory.reset()
    assert texts(memory.get_all(user_id="ben")) == []
    with pytest.raises(ValueError, match="at least one"):
        memory.delete_all()


def test_metadata_cannot_move_a_memory_to_another_owner(memory: Memory) -> None:
    memory.add("Likes tea", user_id="alex", metadata={"user_id": "ben", "agent_id": "x"}, infer=False)
    assert texts(memory.get_all(user_id="ben")) == []
    assert texts(memory.get_all(filters={"user_id": "alex", "agent_id": "x"})) == []


def test_what_mem0_can_and_we_cannot_is_refused_by_name(memory: Memory) -> None:
    unknown_to_us: dict[str, Any] = {"rerank": False, "explain": None}
    memory.search("tea", filters={"user_id": "alex"}, **unknown_to_us)
    unknown_to_us = {"show_expired": True}
    with pytest.raises(InvalidInput, match=r"search\(show_expired=…\)"):
        memory.search("tea", filters={"user_id": "alex"}, **unknown_to_us)
    with pytest.raises(InvalidInput, match="memory_id='nonsense'"):
        memory.get("nonsense")


def test_a_configuration_of_mem0_is_taken_and_what_has_no_meaning_is_said(tmp_path: Path) -> None:
    config = {"vector_store": {"provider": "qdrant"}, "commonplace": {"location": tmp_path / "memory"}}
    with pytest.warns(UserWarning, match="vector_store is not used"), Memory.from_config(config) as memory:
        assert memory.get_all(user_id="alex") == {"results": []}


async def test_the_async_api_is_the_same_and_opens_at_its_first_call(tmp_path: Path) -> None:
    async with AsyncMemory(tmp_path / "memory") as memory:
        await memory.add(TOOLS, user_id="alex")
        assert len(texts(await memory.search("tools", filters={"user_id": "alex"}))) == 2
    for name in ("add", "search", "get_all", "get", "update", "delete", "delete_all", "history", "reset"):
        assert inspect.signature(getattr(Memory, name)) == inspect.signature(getattr(AsyncMemory, name))


def test_the_calls_of_mem0_quickstart_answer_as_they_do_there(memory: Memory) -> None:
    said = [
        {"role": "user", "content": "Hello, I am Kim. I love climbing and chess."},
        {"role": "assistant", "content": "Nice to meet you, Kim!"},
    ]
    memory.add(said, user_id="kim")
    known = texts(memory.search("What do you know about me?", filters={"user_id": "kim"}))
    assert {"User loves climbing", "User loves chess"} <= set(known)
    assert known == texts(memory.search(query="What do you know about me?", user_id="kim"))


def test_the_calls_of_mem0_feature_tour_answer_as_they_do_there(memory: Memory) -> None:
    """Store, list, get, search, update, history, delete, delete_all, reset: each as its documentation calls it."""
    film = [
        {"role": "user", "content": "I want to see a film tonight. Any ideas?"},
        {"role": "assistant", "content": "How about a western?"},
        {"role": "user", "content": "I don't like westerns but I love science fiction films."},
    ]
    memory.add(film, user_id="lea", metadata={"category": "films"})
    memory.add(film, user_id="lea", agent_id="guide", run_id="trip-2025", metadata={"category": "films"}, infer=False)
    memory.add(messages="I like to drink tea in the morning", user_id="lea")
    listed = memory.get_all(filters={"user_id": "lea"}, top_k=50)["results"]
    assert {"id", "memory", "hash", "created_at", "updated_at", "user_id"} <= set(listed[0])
    loved = next(one for one in listed if one["memory"] == "User loves science fiction films")
    assert memory.get(memory_id=loved["id"]) == memory.get(loved["id"]) is not None
    narrow = {"AND": [{"category": "films"}]}
    assert loved["id"] in {
        one["id"] for one in memory.search("Which films?", filters={"user_id": "lea", **narrow})["results"]
    }
    assert memory.search("tea or coffee?", filters={"user_id": "lea"}, top_k=1, threshold=0.1)["results"]
    changed = memory.update(memory_id=loved["id"], data="Loves all films about space")
    assert changed["message"].startswith("Memory updated")
    told = memory.history(memory_id=loved["id"])
    assert [(row["event"], row["new_memory"]) for row in told][-1] == ("UPDATE", "Loves all films about space")
    assert memory.delete(memory_id=loved["id"])["message"].startswith("Memory deleted")
    assert memory.get_all(filters={"user_id": "lea", "run_id": "trip-2025"})["results"]
    memory.delete_all(user_id="lea")
    assert memory.get_all(filters={"user_id": "lea"}) == {"results": []}
    memory.reset()


async def test_the_calls_of_mem0_async_guide_answer_as_they_do_there(tmp_path: Path) -> None:
    memory = AsyncMemory(tmp_path / "memory")
    try:
        users = ("ana", "ben")
        await asyncio.gather(*(memory.add(messages=f"I live in {user.title()}ville", user_id=user) for user in users))
        found = await asyncio.gather(
            *(memory.search(query="Where do I live?", filters={"user_id": user}) for user in users)
        )
        assert [texts(one)[0] for one in found] == ["User lives in Anaville", "User lives in Benville"]
        (one,) = (await memory.get_all(filters={"user_id": "ana"}))["results"]
        await memory.update(memory_id=one["id"], data="Lives in Oslo")
        assert [row["event"] for row in await memory.history(memory_id=one["id"])] == ["ADD", "UPDATE"]
        await memory.delete_all(user_id="ana")
        assert await memory.get(memory_id=one["id"]) is None
    finally:
        await memory.close()
