"""`commonplace serve --workers 2` under load: replaced without a failed request, killed without a lost write."""

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import httpx2
import pytest

from tests.backends import Backend
from tests.faults.test_kill_service import serving
from tests.interfaces.http.test_crew import lives
from tests.servers import free_port

PATIENCE = 120.0


def workers_of(pid: int) -> list[int]:
    """Return the processes that serve under this one. Python starts another one, which tracks what they share."""
    children = map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())
    return [
        child for child in children if lives(child) and b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes()
    ]


@dataclass(slots=True)
class Load:
    """Clients that keep their connections, and count what they are told."""

    acknowledged: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)

    @contextlib.asynccontextmanager
    async def on(self, url: str, *, clients: int = 4) -> AsyncIterator[None]:
        over = asyncio.Event()
        tasks = [asyncio.create_task(self._client(url, over)) for _ in range(clients)]
        yield
        over.set()
        await asyncio.gather(*tasks)

    async def _client(self, url: str, over: asyncio.Event) -> None:
        async with httpx2.AsyncClient(base_url=url, timeout=PATIENCE) as asking:
            while not over.is_set():
                try:
                    answer = await asking.post("/v1/messages", json={"content": "I like tea", "user": "u"})
                    answer.raise_for_status()
                    self.acknowledged += answer.json()["messages"]
                    await asyncio.sleep(0.02)  # leave the cores to the processes that start
                except httpx2.HTTPError as error:
                    self.failed.append(repr(error))


async def replaced(pid: int, before: set[int]) -> None:
    async with asyncio.timeout(PATIENCE):
        while any(map(lives, before)) or len(workers_of(pid)) < 2:  # noqa: ASYNC110 - nobody is told
            await asyncio.sleep(0.1)


@pytest.mark.backends("ledgers")
async def test_processes_are_replaced_without_a_failed_request_or_a_lost_write(
    backend: Backend, tmp_path: Path, environment: dict[str, str]
) -> None:
    port, rolling, killing = free_port(), Load(), Load()
    url = f"http://127.0.0.1:{port}"
    environment |= backend.variables(tmp_path / "home", index="auto", api_workers=2)
    with serving(tmp_path / "home", port, environment) as above:
        async with rolling.on(url):
            before = set(workers_of(above.pid))
            above.send_signal(signal.SIGHUP)
            await replaced(above.pid, before)
        assert rolling.failed == []
        async with killing.on(url):
            victim = workers_of(above.pid)[0]
            os.kill(victim, signal.SIGKILL)
            await replaced(above.pid, {victim})
        async with httpx2.AsyncClient(base_url=url, timeout=PATIENCE) as asking:
            for id_ in [*rolling.acknowledged[-50:], *killing.acknowledged[-50:]]:
                assert (await asking.get(f"/v1/messages/{id_}", params={"user": "u"})).status_code == 200
        above.terminate()
        assert await asyncio.to_thread(above.wait, PATIENCE) == 0
