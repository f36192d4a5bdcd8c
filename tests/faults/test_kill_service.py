"""kill -9 of the service amid writes: whatever it has acknowledged is there when it is started again."""

import asyncio
import contextlib
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from tests.backends import Backend
from tests.learning.scripted_model import Answer, Failing, by_rules
from tests.learning.scripted_model import serving as scripted
from tests.servers import answers, free_port

pytestmark = pytest.mark.backends("ledgers")

CLIENTS = 8
WRITES = 60


@contextlib.contextmanager
def serving(home: Path, port: int, environment: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    own = environment | {"COMMONPLACE_HOME": str(home), "COMMONPLACE_MODEL_CACHE": str(home.with_name("no-model"))}
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
                    said = {"content": f"I use tool{number}x{count} for the garden", "user": "u"}
                    answer = await asking.post("/v1/messages", json=said)
                    assert answer.status_code == 201
                    assert answer.json()["pending"] == 1
                    acknowledged.extend(answer.json()["messages"])
                    if len(acknowledged) == WRITES:
                        server.kill()  # the others are in the middle of theirs

    await asyncio.gather(*(client(number) for number in range(CLIENTS)))
    return acknowledged


async def test_all_that_was_acknowledged_is_there_after_a_kill_and_is_learned_from(
    backend: Backend, tmp_path: Path, environment: dict[str, str]
) -> None:
    """The model is away at first: when the service is killed, some jobs wait and some are being done."""
    port, away = free_port(), True
    url = f"http://127.0.0.1:{port}"

    def answer(prompt: str) -> Answer:
        return Failing(503) if away else by_rules(prompt)

    with scripted(answer) as model:
        environment |= backend.variables(
            tmp_path / "home",
            agent_model="openai:small",
            agent_base_url=f"{model.url}/v1",
            agent_retries=0,
            learning_attempts=1000,
            learning_retry_delay=0.2,
            learning_lease=2,
        ) | {"OPENAI_API_KEY": "none"}
        with serving(tmp_path / "home", port, environment) as server:
            acknowledged = await write_until_killed(url, server)
        assert len(acknowledged) >= WRITES
        away = False
        with serving(tmp_path / "home", port, environment):
            async with httpx2.AsyncClient(base_url=url, timeout=60) as asking:
                assert "event: done" in (await asking.get("/v1/jobs/follow")).text
                for id_ in acknowledged:
                    assert (await asking.get(f"/v1/messages/{id_}", params={"user": "u"})).status_code == 200
                facts = (await asking.get("/v1/facts", params={"user": "u", "limit": 1_000})).json()["items"]
                assert set(acknowledged) <= {source for fact in facts for source in fact["sources"]}
                assert len(facts) == len({fact["text"] for fact in facts})  # no job was done twice
                findings = (await asking.post("/v1/doctor", json={})).json()["findings"]
                assert {finding["check"] for finding in findings} == {"vectors"}  # there is no model to embed with
