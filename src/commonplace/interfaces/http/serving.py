"""The service in one process: on a socket that is open already, until it is told to end."""

import asyncio
import signal
import socket
import time
from collections.abc import Callable, Mapping
from types import FrameType

import uvicorn

from commonplace.interfaces.http.app import create_app
from commonplace.interfaces.http.service import Service, opened_service
from commonplace.wiring import Location

DRAIN = 2.0
"""Seconds that a client with an open connection is given to hear that it ends, when another process may be there."""


def quick_loop() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """Return what makes the quickest event loop that is installed: uvicorn knows."""
    return uvicorn.Config("", log_config=None).get_loop_factory()


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, service: Service, *, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._service, self._ready, self._drain = service, ready, 0.0

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._ready()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """End in good order, which is no failure; told twice, end at once."""
        self._service.closing.set()
        self._drain = DRAIN if sig == signal.SIGTERM else 0.0
        self.force_exit, self.should_exit = self.should_exit, True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Let who keeps a connection open find another process first: each answer says that this is the last one here.

        A connection that is closed just when a request comes on it would be a request that failed.
        """
        for server in self.servers:
            server.close()
        state = self.server_state
        state.default_headers = [*state.default_headers, (b"connection", b"close")]
        until = time.monotonic() + self._drain
        while state.connections and time.monotonic() < until and not self.force_exit:  # noqa: ASYNC110 - uvicorn tells nobody
            await asyncio.sleep(0.05)
        await super().shutdown(sockets)


def serve(
    location: Location, overrides: Mapping[str, object], listening: socket.socket, *, ready: Callable[[], None]
) -> None:
    """Serve on this socket until SIGTERM or SIGINT. `ready` is called as soon as it answers."""
    with asyncio.Runner(loop_factory=quick_loop()) as runner:
        runner.run(_serve(location, overrides, listening, ready))


async def _serve(
    location: Location, overrides: Mapping[str, object], listening: socket.socket, ready: Callable[[], None]
) -> None:
    async with opened_service(location, overrides) as service:
        config = uvicorn.Config(
            create_app(service),
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=max(round(service.settings.api_grace), 1),
            lifespan="on",
        )
        await _Server(config, service, ready=ready).serve(sockets=[listening])
