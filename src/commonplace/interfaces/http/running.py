"""Runs the service in one process or in several, on this machine alone unless there is a key.

What it is made of is loaded by the processes that serve, and by no other.
"""

import asyncio
import socket
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import partial

from commonplace.domain.errors import InvalidInput
from commonplace.domain.extras import needing
from commonplace.interfaces.http.crew import Crew
from commonplace.interfaces.listening import is_loopback, listen, url_of
from commonplace.settings import Settings
from commonplace.wiring import Location, open_keys


def run(
    location: Location,
    overrides: Mapping[str, object],
    *,
    told: Callable[[str], None],
    prepare: Callable[[], None] = lambda: None,
) -> None:
    """Serve until SIGTERM or SIGINT. `told` is given the address, as soon as it answers.

    `prepare` is called first in each process that serves.
    """
    settings = Settings.from_sources(**location.settings(), **overrides)
    if not is_loopback(settings.api_host):
        asyncio.run(_check_for_a_key(settings))
    with listen(settings.api_host, settings.api_port) as listening:
        ready = partial(told, url_of(listening))
        work = partial(_work, location, overrides, listening, prepare)
        if settings.api_workers > 1:
            Crew(settings.api_workers, work, ready=ready).run()
        else:
            work(ready=ready)


async def _check_for_a_key(settings: Settings) -> None:
    async with open_keys(settings) as keys:
        if not await keys.any_usable_key(now=datetime.now(UTC)):
            raise InvalidInput(
                f"api_host={settings.api_host!r}: others could reach it, and there is no key; "
                "make one first: commonplace key create"
            )


def _work(
    location: Location,
    overrides: Mapping[str, object],
    listening: socket.socket,
    prepare: Callable[[], None],
    *,
    ready: Callable[[], None],
) -> None:
    prepare()
    with needing("server", "serve", InvalidInput):
        from commonplace.interfaces.http.serving import serve
    serve(location, overrides, listening, ready=ready)
