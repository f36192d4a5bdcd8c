"""A memory in this process and MCP clients of it: one for a fixed user, one that may name any."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest
from mcp import Client
from mcp.types import CallToolResult, TextContent

from commonplace.adapters.hashing import HashEmbedder
from commonplace.interfaces.mcp.caller import Caller, always
from commonplace.interfaces.mcp.server import build_server
from commonplace.memory import AsyncMemory

Connect = Callable[..., AbstractAsyncContextManager[Client]]


@pytest.fixture
async def memory() -> AsyncIterator[AsyncMemory]:
    async with AsyncMemory.ephemeral(embedder=HashEmbedder(), index="exact") as memory:
        yield memory


@pytest.fixture
def connect(memory: AsyncMemory) -> Connect:
    """Connect to the server in this process; with a user, to a server that is that user's."""

    def client(
        *, user: str | None = None, may_write: bool = True, mode: str = "auto", as_graph: bool = False
    ) -> Client:
        caller = Caller(memory=memory, user=user, fixed=user is not None, may_write=may_write)
        return Client(build_server(always(caller), of_any_user=user is None, as_graph=as_graph), mode=mode)

    return client


def text_of(result: CallToolResult) -> str:
    return "".join(part.text for part in result.content if isinstance(part, TextContent))


async def told(client: Client, tool: str, **arguments: Any) -> Mapping[str, Any]:
    """Call a tool that must succeed, and return its structured result."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, text_of(result)
    structure: Mapping[str, Any] | None = result.structured_content
    assert structure is not None
    return structure


async def refused(client: Client, tool: str, **arguments: Any) -> str:
    """Call a tool that must fail, and return what it says."""
    result = await client.call_tool(tool, arguments)
    assert result.is_error, result.structured_content
    return text_of(result)
