"""Running the service: on this machine alone unless there is a key, until it is told to end."""

import asyncio
import ipaddress
import logging
import socket
from collections.abc import Callable, Mapping
from types import FrameType

import uvicorn

from commonplace.domain.errors import InvalidInput, Unavailable
from commonplace.interfaces.http.app import create_app
from commonplace.interfaces.http.service import Service, opened_service
from commonplace.wiring import Location

LOG = logging.getLogger("commonplace.http")

Told = Callable[[str], None]


def quick_loop() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """Return what makes the quickest event loop that is installed: uvicorn knows."""
    return uvicorn.Config("", log_config=None).get_loop_factory()


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, service: Service) -> None:
        super().__init__(config)
        self._service = service

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """End in good order, which is no failure; told twice, end at once."""
        self._service.closing.set()
        self.force_exit, self.should_exit = self.should_exit, True


def serve(location: Location, overrides: Mapping[str, object], *, told: Told) -> None:
    """Serve until SIGTERM or SIGINT. `told` is given the address, as soon as it answers."""
    with asyncio.Runner(loop_factory=quick_loop()) as runner:
        runner.run(_serve(location, overrides, told))


async def _serve(location: Location, overrides: Mapping[str, object], told: Told) -> None:
    async with opened_service(location, overrides) as service:
        settings = service.settings
        if not is_loopback(settings.api_host) and not await service.keys.any_usable_key(now=service.now()):
            raise InvalidInput(
                f"api_host={settings.api_host!r}: others could reach it, and there is no key; "
                "make one first: commonplace key create"
            )
        listening = _listening(settings.api_host, settings.api_port)
        config = uvicorn.Config(
            create_app(service),
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=max(round(settings.api_grace), 1),
            lifespan="on",
        )
        host, port = listening.getsockname()[:2]
        told(f"http://{f'[{host}]' if ':' in host else host}:{port}")
        await _Server(config, service).serve(sockets=[listening])


def is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _listening(host: str, port: int) -> socket.socket:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        # asyncio sends small answers at once only where the protocol is named: without it they wait 40 ms.
        listening = socket.socket(family, kind, protocol)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(1_024)
    except OSError as error:
        raise Unavailable(f"cannot listen on {host}:{port}: {error.strerror or error}") from error
    return listening
