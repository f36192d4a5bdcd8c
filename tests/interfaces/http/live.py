"""A service that listens on this machine, in a thread of this process: for clients that need an address."""

import asyncio
import contextlib
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import uvicorn

from commonplace.domain.keys import new_key
from commonplace.interfaces.http.app import create_app
from commonplace.interfaces.http.service import Service, opened_service
from commonplace.interfaces.listening import listen
from commonplace.wiring import Location
from tests.interfaces.http.conftest import embed


@dataclass(slots=True)
class Live:
    url: str
    service: Service
    loop: asyncio.AbstractEventLoop
    tokens: dict[str, str] = field(default_factory=dict)

    def key(self, **given: Any) -> str:
        """Make a key and return its token."""
        values = {"tenant": "default", "user": None, "role": "admin", "label": "", "now": datetime.now(UTC)} | given
        key, token = new_key(**values)
        asyncio.run_coroutine_threadsafe(self.service.keys.add_key(key), self.loop).result(30)
        return str(token)


@contextlib.contextmanager
def live(home: Path, *, key_needed: bool = False, **settings: object) -> Iterator[Live]:
    ready, started = threading.Event(), list[tuple[Live, uvicorn.Server]]()
    listening = listen("127.0.0.1", 0)

    async def main() -> None:
        async with opened_service(Location.parse(home), settings, embedder=embed, key_needed=key_needed) as service:
            server = uvicorn.Server(uvicorn.Config(create_app(service), log_config=None, access_log=False))
            url = f"http://127.0.0.1:{listening.getsockname()[1]}"
            started.append((Live(url, service, asyncio.get_running_loop()), server))
            ready.set()
            await server.serve(sockets=[listening])

    thread = threading.Thread(target=asyncio.run, args=(main(),), daemon=True)
    thread.start()
    assert ready.wait(60), "the service did not start"
    running, server = started[0]
    try:
        yield running
    finally:
        running.loop.call_soon_threadsafe(running.service.closing.set)
        server.should_exit = True
        thread.join(60)
