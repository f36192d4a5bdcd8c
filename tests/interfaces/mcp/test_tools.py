"""The tools, as the SDK's client calls them: the story, the hints, the schemas."""

import json

import pytest

from commonplace.memory import AsyncMemory
from tests.interfaces.mcp.conftest import Connect, text_of, told

READING = {"search_memory", "list_memories", "get_context"}
WRITING = {"add_memories", "update_memory", "delete_memories", "set_block"}
TOOLS = "I use Shram and Magnet as productivity tools"


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_the_story_works_over_mcp(connect: Connect, mode: str) -> None:
    async with connect(user="ana", mode=mode) as client:
        added = await told(client, "add_memories", text=TOOLS, session="s1")
        assert [one["change"] for one in added["learned"]] == ["learned", "learned"]
        found = await told(client, "search_memory", query="Which productivity tools do I use?", kinds=["fact"])
        assert {"Shram", "Magnet"} == {word for one in found["results"] for word in one["text"].split()} & {
            "Shram",
            "Magnet",
        }
        await told(client, "add_memories", text="I don't use Magnet anymore")
        listed = await told(client, "list_memories")
        assert [one["text"] for one in listed["facts"]] == ["User uses Shram as a productivity tool"]
        assert listed["facts"][0]["sources"] == added["messages"]


async def test_a_conversation_can_be_added_at_once(connect: Connect, memory: AsyncMemory) -> None:
    said = [
        {"content": "I live in Oslo", "id": "m1", "at": "2026-05-12T09:30:00+02:00"},
        {"content": "You live in Paris, noted.", "role": "assistant", "id": "m2"},
    ]
    async with connect(user="ana") as client:
        added = await told(client, "add_memories", messages=said, session="s1", metadata={"topic": "home"})
    assert added["messages"] == ["m1", "m2"]
    assert [one["text"] for one in added["learned"]] == ["User lives in Oslo"]
    kept = await memory.messages(session="s1", user="ana")
    assert [(one.role, one.text, one.metadata) for one in kept] == [
        ("user", "I live in Oslo", {"topic": "home"}),
        ("assistant", "You live in Paris, noted.", {"topic": "home"}),
    ]


async def test_search_is_narrowed_by_time_and_by_conversation(connect: Connect, memory: AsyncMemory) -> None:
    await memory.add("I drink tea", user="ana", session="old", at="2024-01-01T00:00:00+00:00", learn=False)
    await memory.add("I drink coffee", user="ana", session="new", at="2026-01-01T00:00:00+00:00", learn=False)
    async with connect(user="ana") as client:
        later = await told(client, "search_memory", query="drink", since="2025-01-01T00:00:00+00:00")
        earlier = await told(client, "search_memory", query="drink", until="2025-01-01T00:00:00+00:00")
        there = await told(client, "search_memory", query="drink", session="old")
    assert [one["text"] for one in later["results"]] == ["I drink coffee"]
    assert [one["text"] for one in earlier["results"]] == ["I drink tea"]
    assert [one["text"] for one in there["results"]] == ["I drink tea"]


async def test_facts_are_listed_page_by_page(connect: Connect, memory: AsyncMemory) -> None:
    for number in range(5):
        await memory.remember(f"Fact number {number}", user="ana")
    async with connect(user="ana") as client:
        page = await told(client, "list_memories", limit=2)
        texts = [one["text"] for one in page["facts"]]
        while page["next_cursor"]:
            page = await told(client, "list_memories", limit=2, cursor=page["next_cursor"])
            texts += [one["text"] for one in page["facts"]]
    assert texts == [f"Fact number {number}" for number in (4, 3, 2, 1, 0)]


async def test_an_updated_fact_keeps_its_history(connect: Connect, memory: AsyncMemory) -> None:
    fact = await memory.remember("Allergic to peanuts", user="ana")
    async with connect(user="ana") as client:
        updated = await told(client, "update_memory", id=fact.id, text="Allergic to nuts", reason="said so")
    assert (updated["id"], updated["text"], updated["version"]) == (fact.id, "Allergic to nuts", 2)
    history = await memory.history(fact.id, user="ana")
    assert [one.text for one in history] == ["Allergic to peanuts", "Allergic to nuts"]


async def test_what_is_deleted_is_gone_with_a_receipt(connect: Connect, memory: AsyncMemory) -> None:
    async with connect(user="ana") as client:
        added = await told(client, "add_memories", text=TOOLS)
        ids = [*added["messages"], *(one["fact"] for one in added["learned"])]
        deleted = await told(client, "delete_memories", ids=ids)
        assert {one["id"] for one in deleted["deleted"]} == set(ids)
        assert (await told(client, "search_memory", query="tools"))["results"] == []
    receipts = [one.id for one in await memory.receipts(user="ana")]
    assert {one["receipt"] for one in deleted["deleted"]} == set(receipts)


async def test_the_context_has_blocks_first_and_stays_in_its_budget(connect: Connect) -> None:
    async with connect(user="ana") as client:
        await told(client, "set_block", name="persona", text="A helpful colleague")
        await told(client, "add_memories", text=TOOLS)
        context = await told(client, "get_context", query="Which tools do I use?", budget=200)
    assert context["text"].index("A helpful colleague") < context["text"].index("Shram")
    assert 0 < context["tokens"] <= 200


async def test_hints_say_which_tools_read_and_which_destroy(connect: Connect) -> None:
    async with connect() as client:
        tools = {one.name: one for one in (await client.list_tools()).tools}
    assert tools.keys() == READING | WRITING
    hints = {name: tool.annotations for name, tool in tools.items() if tool.annotations}
    assert {name for name, one in hints.items() if one.read_only_hint} == READING
    assert {name for name, one in hints.items() if one.destructive_hint} == {"delete_memories", "set_block"}
    assert not any(one.open_world_hint for one in hints.values())


async def test_every_tool_has_both_schemas_and_a_description(connect: Connect) -> None:
    async with connect() as client:
        for tool in (await client.list_tools()).tools:
            assert tool.description, tool.name
            assert tool.input_schema["additionalProperties"] is False
            assert tool.output_schema is not None
            assert tool.output_schema["type"] == "object"


async def test_the_text_of_a_result_is_its_structure_as_json(connect: Connect) -> None:
    async with connect(user="ana") as client:
        result = await client.call_tool("add_memories", {"text": TOOLS})
    assert json.loads(text_of(result)) == result.structured_content
