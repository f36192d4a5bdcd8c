"""kill -9 of the service amid writes: whatever it has acknowledged is there when it is started again."""

import asyncio
import contextlib
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx2

from tests.servers import answers, free_port

CLIENTS = 8
WRITES = 60


@contextlib.contextmanager
def serving(home: Path, port: int, environment: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    own = environment | {"COMMONPLACE_HOME": str(home), "COMMONPLACE_MODEL_CACHE": str(home / "no-model")}
    command = [sys.executable, "-m", "commonplace.interfaces.cli", "serve", "--port", str(port)]
    with subprocess.Popen(command, env=own, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            for _ in range(600):
                assert server.poll() is None, "the service has gone"
                if answers(f"http://127.0.0.1:{port}/healthz"):
                    break
                time.sleep(0.1)
            yield server
        finally:
            server.kill()


async def write_until_killed(url: str, server: subprocess.Popen[bytes]) -> list[str]:
    """Return the ids of the messages that were acknowledged before the server was killed amid more of them."""
    acknowledged: list[str] = []

    async def client(number: int) -> None:
        async with httpx2.AsyncClient(base_url=url, timeout=30) as asking:
            with contextlib.suppress(httpx2.TransportError):
                for count in range(10_000):
                    answer = await asking.post(
                        "/v1/messages", json={"content": f"I like tea {number} {count}", "user": "u"}
                    )
                    assert answer.status_code == 201
                    acknowledged.append(answer.json()["messages"][0])
                    if len(acknowledged) == WRITES:
                        server.kill()  # the others are in the middle of theirs

    await asyncio.gather(*(client(number) for number in range(CLIENTS)))
    return acknowledged


async def test_every_acknowledged_write_is_there_after_a_kill(tmp_path: Path, environment: dict[str, str]) -> None:
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    with serving(tmp_path / "home", port, environment) as server:
        acknowledged = await write_until_killed(url, server)
    assert len(acknowledged) >= WRITES
    with serving(tmp_path / "home", port, environment):
        async with httpx2.AsyncClient(base_url=url, timeout=60) as asking:
            for id_ in acknowledged:
                assert (await asking.get(f"/v1/messages/{id_}", params={"user": "u"})).status_code == 200
            checkup = await asking.post("/v1/doctor", json={})
            assert checkup.status_code == 200
