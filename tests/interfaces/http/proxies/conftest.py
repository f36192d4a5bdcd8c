"""The whole service on a port of this machine, before a scripted model service, asked with the unmodified SDKs."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest
import uvicorn
from anthropic import AsyncAnthropic
from openai import AsyncOpenAI

from commonplace.interfaces.listening import listen
from commonplace.memory import AsyncMemory
from tests.agents import wire
from tests.interfaces.http.conftest import Running, running

TOOLS = "I use Shram and Magnet as productivity tools"
QUESTION = "Which productivity tools do I use?"


def from_memory(asked: wire.Asked) -> wire.Reply:
    """Answer with the tools that the prompt tells of."""
    known = [name for name in ("Shram", "Magnet") if name in asked.system]
    return wire.Say(f"You use {' and '.join(known)}." if known else "Understood.")


@dataclass(frozen=True, slots=True)
class Proxied:
    url: str
    behind: wire.Service
    running: Running
    memory: AsyncMemory

    closing: AsyncExitStack

    def openai(self, key: str = "sk-own", **more: Any) -> AsyncOpenAI:
        client = AsyncOpenAI(base_url=f"{self.url}/openai/v1", api_key=key, max_retries=0, **more)
        self.closing.push_async_callback(client.close)
        return client

    def anthropic(self, key: str = "sk-ant-own", **more: Any) -> AsyncAnthropic:
        client = AsyncAnthropic(base_url=f"{self.url}/anthropic", api_key=key, max_retries=0, **more)
        self.closing.push_async_callback(client.close)
        return client

    async def key(self, **given: Any) -> str:
        return (await self.running.key(**given))["Authorization"].removeprefix("Bearer ")

    async def said(self, user: str | None = None) -> list[tuple[str, str]]:
        return [(one.role, one.text) for one in await self.memory.messages(user=user)]

    async def post(self, path: str, body: Any, **headers: str) -> httpx2.Response:
        async with httpx2.AsyncClient() as client:
            return await client.post(f"{self.url}{path}", json=body, headers=headers, timeout=60)


Serve = Callable[..., AbstractAsyncContextManager[Proxied]]


@asynccontextmanager
async def listening(server: Running) -> AsyncIterator[str]:
    """Let the service listen on a port that is free."""
    door = listen("127.0.0.1", 0)
    web = uvicorn.Server(uvicorn.Config(server.app, log_config=None, lifespan="on"))
    task = asyncio.create_task(web.serve(sockets=[door]))
    try:
        yield f"http://127.0.0.1:{door.getsockname()[1]}"
    finally:
        web.should_exit = True
        await task
        door.close()


@pytest.fixture
def serve(tmp_path: Path) -> Serve:
    @asynccontextmanager
    async def started(script: wire.Script = from_memory, **settings: Any) -> AsyncIterator[Proxied]:
        with wire.service(script) as behind:
            given = {
                "proxy_openai_url": f"{behind.url}/v1",
                "proxy_anthropic_url": behind.url,
                "openai_api_key": "sk-operator",
                "anthropic_api_key": "sk-ant-operator",
            } | settings
            async with (
                running(tmp_path / "home", **given) as server,
                listening(server) as url,
                AsyncExitStack() as closing,
            ):
                memory = await server.service.memory("default")
                yield Proxied(url, behind, server, memory, closing)

    return started
