"""kill -9 of the service amid writes: whatever it has acknowledged is there when it is started again."""

import asyncio
import contextlib
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx2

from tests.learning.scripted_model import Answer, Failing, by_rules
from tests.learning.scripted_model import serving as scripted
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


async def test_what_was_to_be_learned_is_learned_after_a_kill(tmp_path: Path, environment: dict[str, str]) -> None:
    port, away = free_port(), True
    url = f"http://127.0.0.1:{port}"

    def answer(prompt: str) -> Answer:
        return Failing(503) if away else by_rules(prompt)

    with scripted(answer) as model:
        own = environment | {
            "COMMONPLACE_AGENT_MODEL": "openai:small",
            "COMMONPLACE_AGENT_BASE_URL": f"{model.url}/v1",
            "COMMONPLACE_AGENT_RETRIES": "0",
            "COMMONPLACE_LEARNING_ATTEMPTS": "1000",
            "COMMONPLACE_LEARNING_RETRY_DELAY": "0.5",
            "OPENAI_API_KEY": "none",
        }
        async with httpx2.AsyncClient(base_url=url, timeout=60) as asking:
            with serving(tmp_path / "home", port, own) as server:
                said = {"content": "I live in Berlin", "user": "u"}
                added = (await asking.post("/v1/messages", json=said)).json()
                assert added["pending"] == 1
                for _ in range(600):  # running means that it has been taken, and would be kept until its lease ends
                    if [job["status"] for job in (await asking.get("/v1/jobs")).json()["items"]] == ["queued"]:
                        break
                    await asyncio.sleep(0.05)
                server.kill()
            away = False
            with serving(tmp_path / "home", port, own):
                followed = await asking.get("/v1/jobs/follow")
                assert "event: done" in followed.text
                facts = (await asking.get("/v1/facts", params={"user": "u"})).json()["items"]
                assert any("Berlin" in fact["text"] for fact in facts)
