"""Blocks and profile as resources, and the prompt."""

import json
from urllib.parse import quote

import pytest
from mcp import Client, MCPError
from mcp.types import ResourceTemplateReference, TextContent, TextResourceContents

from commonplace.memory import AsyncMemory
from tests.interfaces.mcp.conftest import Connect


async def read(client: Client, uri: str) -> str:
    contents = (await client.read_resource(uri)).contents
    assert isinstance(contents[0], TextResourceContents)
    return contents[0].text


async def test_the_profile_tells_of_the_user(connect: Connect, memory: AsyncMemory) -> None:
    await memory.add("I live in Oslo", user="ana")
    async with connect(user="ana") as client:
        profile = json.loads(await read(client, "commonplace://profile"))
    assert (profile["user"], profile["messages"], profile["facts"]) == ("ana", 1, 1)
    assert [one["text"] for one in profile["sample"]] == ["User lives in Oslo"]


async def test_blocks_are_read_together_and_one_by_one(connect: Connect, memory: AsyncMemory) -> None:
    await memory.set_block("persona", "A helpful colleague", user="ana")
    await memory.set_block("profil/für ..", "Müller", user="ana")
    async with connect(user="ana") as client:
        both = json.loads(await read(client, "commonplace://blocks"))
        assert [(one["name"], one["text"]) for one in both] == [
            ("persona", "A helpful colleague"),
            ("profil/für ..", "Müller"),
        ]
        assert await read(client, f"commonplace://blocks/{quote('profil/für ..', safe='')}") == "Müller"
        with pytest.raises(MCPError, match="no block"):
            await read(client, "commonplace://blocks/nowhere")


async def test_a_server_for_many_users_reads_those_who_are_named(connect: Connect, memory: AsyncMemory) -> None:
    await memory.set_block("persona", "Ana's", user="ana@example.org")
    await memory.set_block("persona", "Nobody's")
    async with connect() as client:
        assert await read(client, "commonplace://users/ana%40example.org/blocks/persona") == "Ana's"
        assert json.loads(await read(client, "commonplace://users/ben/blocks")) == []
        assert json.loads(await read(client, "commonplace://users/ben/profile"))["facts"] == 0
        assert await read(client, "commonplace://blocks/persona") == "Nobody's"


async def test_the_prompt_brings_what_is_remembered(connect: Connect, memory: AsyncMemory) -> None:
    await memory.add("I live in Oslo", user="ana")
    async with connect(user="ana") as client:
        assert [one.name for one in (await client.list_prompts()).prompts] == ["answer_from_memory"]
        prompt = await client.get_prompt("answer_from_memory", {"question": "Where do I live?"})
        empty = await client.get_prompt("answer_from_memory", {"question": "Quel est mon plat favori ?"})
    content = prompt.messages[0].content
    assert isinstance(content, TextContent)
    assert "Oslo" in content.text
    assert content.text.endswith("Where do I live?")
    nothing = empty.messages[0].content
    assert isinstance(nothing, TextContent)
    assert "Oslo" not in nothing.text


async def test_the_names_of_blocks_are_offered_to_complete_an_address(connect: Connect, memory: AsyncMemory) -> None:
    for name in ("persona", "person", "profile"):
        await memory.set_block(name, "x", user="ana")
    async with connect(user="ana") as client:
        ref = ResourceTemplateReference(uri="commonplace://blocks/{name}")
        offered = await client.complete(ref, {"name": "name", "value": "pers"})
    assert sorted(offered.completion.values) == ["person", "persona"]
