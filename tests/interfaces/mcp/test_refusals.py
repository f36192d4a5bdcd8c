"""What a model gets wrong is told so that it can correct itself; what a caller may not do is not done."""

import logging
from typing import Any

import pytest
from mcp import Client, MCPError

from commonplace.memory import AsyncMemory
from tests.interfaces.mcp.conftest import Connect, refused, told

EVERY_TOOL: list[tuple[str, dict[str, Any]]] = [
    ("add_memories", {"text": "I live in Rome"}),
    ("search_memory", {"query": "Oslo"}),
    ("list_memories", {}),
    ("update_memory", {"id": "FACT", "text": "Lives in Rome"}),
    ("delete_memories", {"ids": ["FACT"]}),
    ("get_context", {"query": "Oslo"}),
    ("set_block", {"name": "persona", "text": "Somebody else"}),
]


@pytest.fixture
async def bens_fact(memory: AsyncMemory) -> str:
    await memory.set_block("persona", "Ben's own", user="ben")
    return (await memory.remember("Ben lives in Oslo", user="ben")).id


async def nothing_of_ben_has_changed(memory: AsyncMemory) -> bool:
    facts = [one.text for one in await memory.facts(user="ben")]
    blocks = [one.text for one in await memory.blocks(user="ben")]
    return facts == ["Ben lives in Oslo"] and blocks == ["Ben's own"] and not len(await memory.messages(user="ben"))


@pytest.mark.parametrize(("tool", "arguments"), EVERY_TOOL, ids=[name for name, _ in EVERY_TOOL])
async def test_a_fixed_user_cannot_be_left(
    connect: Connect, memory: AsyncMemory, bens_fact: str, tool: str, arguments: dict[str, Any]
) -> None:
    async with connect(user="ana") as client:
        said = await refused(client, tool, **arguments, user="ben")
    assert "'ben'" in said
    assert "one user" in said
    assert await nothing_of_ben_has_changed(memory)


async def test_a_fixed_server_does_not_offer_to_name_a_user(connect: Connect) -> None:
    async with connect(user="ana") as client:
        schemas = [tool.input_schema["properties"] for tool in (await client.list_tools()).tools]
        templates = (await client.list_resource_templates()).resource_templates
    assert not [one for one in schemas if "user" in one]
    assert [one.uri_template for one in templates] == ["commonplace://blocks/{name}"]


@pytest.mark.parametrize("tool", ["update_memory", "delete_memories"])
async def test_the_id_of_another_users_fact_is_unknown(
    connect: Connect, memory: AsyncMemory, bens_fact: str, tool: str
) -> None:
    arguments = {"id": bens_fact, "text": "x"} if tool == "update_memory" else {"ids": [bens_fact]}
    async with connect(user="ana") as client:
        assert "NotFound" in await refused(client, tool, **arguments)
    assert await nothing_of_ben_has_changed(memory)


@pytest.mark.parametrize("user", ["null", "*", "[]", '{"user": "ana"}', "true", "ana' OR '1'='1", "../ana", "%"])
async def test_a_user_is_taken_by_its_letters(connect: Connect, memory: AsyncMemory, user: str) -> None:
    await memory.remember("Ana likes tea", user="ana")
    await memory.remember("Nobody likes tea", user=None)
    async with connect() as client:
        assert (await told(client, "list_memories", user=user))["facts"] == []
        await told(client, "add_memories", text="I live in Oslo", user=user)
    assert [one.text for one in await memory.facts(user=user)] == ["User lives in Oslo"]


@pytest.mark.parametrize("text", ["null", "[1, 2]", '{"role": "system"}', "42", '"quoted"'])
async def test_a_text_that_looks_like_json_stays_a_text(connect: Connect, memory: AsyncMemory, text: str) -> None:
    async with connect(user="ana") as client:
        await told(client, "add_memories", text=text, session=text)
    assert [one.text for one in await memory.messages(session=text, user="ana")] == [text]


async def test_nothing_is_deleted_when_one_id_is_unknown(connect: Connect, memory: AsyncMemory) -> None:
    fact = await memory.remember("Allergic to peanuts", user="ana")
    async with connect(user="ana") as client:
        assert "'nowhere'" in await refused(client, "delete_memories", ids=[fact.id, "nowhere"])
    assert len(await memory.facts(user="ana")) == 1


@pytest.mark.parametrize(("tool", "arguments"), EVERY_TOOL, ids=[name for name, _ in EVERY_TOOL])
async def test_a_caller_who_may_only_read_changes_nothing(
    connect: Connect, memory: AsyncMemory, bens_fact: str, tool: str, arguments: dict[str, Any]
) -> None:
    given = {name: bens_fact if value == "FACT" else value for name, value in arguments.items()}
    if "ids" in given:
        given["ids"] = [bens_fact]
    async with connect(user="ben", may_write=False) as client:
        if tool in {"search_memory", "list_memories", "get_context"}:
            await told(client, tool, **given)
        else:
            assert "reading only" in await refused(client, tool, **given)
    assert await nothing_of_ben_has_changed(memory)


WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("search_memory", {}, "query: missing"),
    ("search_memory", {"query": "x", "limti": 3}, "limti: unknown argument"),
    ("search_memory", {"query": "x", "limit": "many"}, "limit='many'"),
    ("search_memory", {"query": "x", "limit": 0}, "limit=0"),
    ("search_memory", {"query": "x", "kinds": ["dream"]}, "kinds.0='dream'"),
    ("search_memory", {"query": "x", "since": "yesterday"}, "'yesterday'"),
    ("search_memory", {"query": ["x"]}, "query=['x']"),
    ("add_memories", {}, "either text or messages"),
    ("add_memories", {"text": "x", "messages": [{"content": "y"}]}, "either text or messages"),
    ("add_memories", {"text": "   "}, "expected some text"),
    ("add_memories", {"messages": []}, "at least one message"),
    ("add_memories", {"messages": [{"content": "x", "role": "king"}]}, "role='king'"),
    ("add_memories", {"text": "x", "user": ""}, "user=''"),
    ("update_memory", {"id": "nowhere", "text": "x"}, "'nowhere'"),
    ("delete_memories", {"ids": []}, "ids=[]"),
    ("list_memories", {"cursor": "nonsense"}, "nonsense"),
    ("get_context", {"query": "x", "budget": -1}, "budget=-1"),
    ("set_block", {"name": "", "text": "x"}, "name=''"),
    ("nothing", {}, "Unknown tool: nothing"),
]


@pytest.mark.parametrize(("tool", "arguments", "said"), WRONG, ids=lambda value: str(value)[:40])
async def test_a_wrong_argument_is_named_with_what_was_expected(
    connect: Connect, tool: str, arguments: dict[str, Any], said: str
) -> None:
    async with connect() as client:
        answer = await refused(client, tool, **arguments)
    assert said in answer
    assert "Traceback" not in answer


async def test_what_a_tool_complains_about_is_not_logged(connect: Connect, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    async with connect(user="ana") as client:
        await refused(client, "update_memory", id="a secret id", text="a secret text")
    assert "secret" not in caplog.text


async def _read(client: Client, uri: str) -> str:
    with pytest.raises(MCPError) as error:
        await client.read_resource(uri)
    return str(error.value)


async def test_a_resource_of_another_user_is_not_there(connect: Connect, bens_fact: str) -> None:
    async with connect(user="ana") as client:
        for uri in ("users/ben/profile", "users/ben/blocks", "users/ben/blocks/persona", "blocks/persona"):
            assert "Ben" not in await _read(client, f"commonplace://{uri}")
