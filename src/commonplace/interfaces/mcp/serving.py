"""Run the MCP server until its client goes: on stdin and stdout, or on a port of this machine."""

import os
import signal
from collections.abc import Callable
from dataclasses import dataclass, field

import anyio
import uvicorn
from mcp.server import MCPServer

from commonplace.interfaces.listening import listen
from commonplace.interfaces.mcp.caller import Caller, always
from commonplace.interfaces.mcp.server import build_server
from commonplace.memory import AsyncMemory, Opening

LOOPBACK = "127.0.0.1"
Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Serving:
    """What to serve. Without a user a call may name one."""

    settings: dict[str, object] = field(repr=False)
    user: str | None = None
    read_only: bool = False
    as_graph: bool = False
    """The tools of the protocol's reference memory server, instead of ours."""

    def run_stdio(self) -> None:
        anyio.run(self._stdio)

    def run_http(self, *, port: int, tell: Tell) -> None:
        """Serve on loopback; `tell` is told the address."""
        anyio.run(self._http, port, tell)

    async def _stdio(self) -> None:
        async with self._memory() as memory, anyio.create_task_group() as group:
            group.start_soon(_end_when_told, memory)
            await self._server(memory).run_stdio_async()
            group.cancel_scope.cancel()

    async def _http(self, port: int, tell: Tell) -> None:
        async with self._memory() as memory:
            app = self._server(memory).streamable_http_app(host=LOOPBACK)
            with listen(LOOPBACK, port) as door:
                tell(f"http://{LOOPBACK}:{door.getsockname()[1]}/mcp")
                await uvicorn.Server(uvicorn.Config(app, log_level="warning")).serve(sockets=[door])

    def _memory(self) -> Opening:
        return AsyncMemory.open(**self.settings)  # type: ignore[arg-type]  # each setting is checked when it is read

    def _server(self, memory: AsyncMemory) -> MCPServer:
        caller = Caller(memory=memory, user=self.user, fixed=self.user is not None, may_write=not self.read_only)
        return build_server(always(caller), of_any_user=self.user is None, as_graph=self.as_graph)


async def _end_when_told(memory: AsyncMemory) -> None:
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as told:
        async for number in told:
            await memory.aclose()
            # A thread waits for a line on stdin and cannot be woken: leaving in the usual way would wait for it.
            os._exit(128 + number)
