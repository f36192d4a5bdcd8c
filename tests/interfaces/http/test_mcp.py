"""The MCP server inside the service: the same tools, and each request only what its key opens."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.interfaces.http.conftest import Running
from tests.interfaces.http.proxies.conftest import listening
from tests.interfaces.mcp.conftest import refused, told

TOOLS = "I use Shram and Magnet as productivity tools"


@asynccontextmanager
async def connected(url: str, headers: dict[str, str], mode: str = "auto") -> AsyncIterator[Client]:
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60) as web,
        Client(streamable_http_client(f"{url}/mcp", http_client=web), mode=mode) as client,
    ):
        yield client


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_the_tools_work_with_a_key(guarded: Running, mode: str) -> None:
    key = await guarded.key(role="write")
    async with listening(guarded) as url, connected(url, key, mode) as client:
        await told(client, "add_memories", text=TOOLS, user="ana")
        assert len((await told(client, "list_memories", user="ana"))["facts"]) == 2
        assert (await told(client, "list_memories", user="ben"))["facts"] == []
    memory = await guarded.service.memory("default")
    assert [one.text for one in await memory.messages(user="ana")] == [TOOLS]


async def test_a_key_of_one_user_cannot_leave_it(guarded: Running) -> None:
    await (await guarded.service.memory("default")).add(TOOLS, user="ana")
    key = await guarded.key(role="write", user="ben")
    async with listening(guarded) as url, connected(url, key) as client:
        assert "one user" in await refused(client, "list_memories", user="ana")
        await told(client, "add_memories", text="I live in Oslo")
        facts = (await told(client, "list_memories"))["facts"]
        assert [one["text"] for one in facts] == ["User lives in Oslo"]
        with pytest.raises(Exception, match="one user"):
            await client.read_resource("commonplace://users/ana/profile")


async def test_tenants_and_roles_hold_here_too(guarded: Running) -> None:
    await (await guarded.service.memory("default")).add(TOOLS, user="ana")
    elsewhere = await guarded.key(role="write", tenant="other")
    reading = await guarded.key(role="read")
    async with listening(guarded) as url:
        async with connected(url, elsewhere) as client:
            assert (await told(client, "list_memories", user="ana"))["facts"] == []
        async with connected(url, reading) as client:
            assert len((await told(client, "list_memories", user="ana"))["facts"]) == 2
            assert "reading only" in await refused(client, "add_memories", text="x", user="ana")


async def test_nobody_comes_in_without_a_key_or_from_another_site(guarded: Running) -> None:
    async with listening(guarded) as url, httpx2.AsyncClient() as web:
        assert (await web.post(f"{url}/mcp", json={})).status_code == 401
        key = await guarded.key()
        foreign = await web.post(f"{url}/mcp", json={}, headers={**key, "Origin": "https://evil.example"})
        assert foreign.status_code == 403
