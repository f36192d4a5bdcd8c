"""The server as clients start it: in a process of its own, over stdio and over streamable HTTP."""

import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest
from mcp import Client, StdioServerParameters

from tests.interfaces.mcp.conftest import refused, told

COMMAND = [sys.executable, "-m", "commonplace.interfaces.cli", "mcp"]
PATIENCE = 60


@pytest.fixture
def surroundings(environment: dict[str, str], tmp_path: Path) -> dict[str, str]:
    """No embedding model: what is found is found by its words, and the server is up at once."""
    return environment | {"COMMONPLACE_MODEL_CACHE": str(tmp_path / "no-model"), "PYTHONPATH": ":".join(sys.path)}


@contextmanager
def serving(surroundings: dict[str, str], *options: str) -> Iterator[str]:
    """Run the server on a port that is free, and yield its address."""
    command = [*COMMAND, "--http", "--port", "0", *options]
    with subprocess.Popen(
        command, env=surroundings, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stderr is not None
            found = re.search(r"http://\S+", process.stderr.readline())
            assert found, "the server did not say where it listens"
            yield found[0]
            process.send_signal(signal.SIGTERM)
            assert process.wait(PATIENCE) in {0, -signal.SIGTERM}
            assert process.stdout is not None
            assert process.stdout.read() == ""
        finally:
            process.kill()


async def test_what_is_said_over_stdio_is_there_for_the_next_process(surroundings: dict[str, str]) -> None:
    server = StdioServerParameters(command=COMMAND[0], args=[*COMMAND[1:], "--user", "ana"], env=surroundings)
    async with Client(server) as client:
        await told(client, "add_memories", text="I live in Oslo")
        assert "one user" in await refused(client, "list_memories", user="ben")
    async with Client(server, mode="legacy") as client:
        listed = await told(client, "list_memories")
    assert [one["text"] for one in listed["facts"]] == ["User lives in Oslo"]


def test_nothing_but_the_protocol_is_on_stdout_even_after_nonsense(surroundings: dict[str, str]) -> None:
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "a test", "version": "1"},
        },
    }
    lines = [
        json.dumps(hello),
        json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        "this is not JSON",
        json.dumps(
            {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "search_memory", "arguments": {}}}
        ),
        json.dumps(
            {
                "jsonrpc": "2.0",
                "id": 3,
                "method": "tools/call",
                "params": {"name": "add_memories", "arguments": {"text": "Ich wohne in Zürich 🏔"}},
            }
        ),
    ]
    ran = subprocess.run(
        COMMAND,
        env=surroundings,
        input="\n".join(lines) + "\n",
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    answers = [json.loads(line) for line in ran.stdout.splitlines()]
    assert ran.returncode == 0, ran.stderr
    assert {answer.get("id") for answer in answers} >= {1}
    assert all(answer["jsonrpc"] == "2.0" for answer in answers)


def test_a_server_on_stdio_ends_when_it_is_told_to(surroundings: dict[str, str]) -> None:
    with subprocess.Popen(
        COMMAND, env=surroundings, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n')
        process.stdin.flush()
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 128 + signal.SIGINT


async def test_the_tools_work_over_streamable_http(surroundings: dict[str, str]) -> None:
    with serving(surroundings) as url:
        for mode in ("auto", "legacy"):
            async with Client(url, mode=mode) as client:
                await told(client, "add_memories", text="I live in Oslo", user="ana")
                listed = await told(client, "list_memories", user="ana")
                assert [one["text"] for one in listed["facts"]] == ["User lives in Oslo"]
                assert (await told(client, "list_memories", user="ben"))["facts"] == []
        async with httpx2.AsyncClient() as web:
            foreign = await web.post(url, json={}, headers={"host": "evil.example", "accept": "application/json"})
        assert foreign.status_code == 421


def test_a_port_without_http_is_wrong_use(surroundings: dict[str, str]) -> None:
    ran = subprocess.run(
        [*COMMAND, "--port", "8000"], env=surroundings, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert ran.returncode == 2
    assert "--http" in ran.stderr
