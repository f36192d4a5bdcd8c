"""A model that is named is opened by every process that has the memory open; over the wire of a hosted one."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai import models

from commonplace import AsyncMemory
from commonplace.domain.errors import EmbedderMismatch
from commonplace.interfaces.cli.app import run
from tests.agents.wire import Service, from_memory, service, vector_of
from tests.backends import Backend

pytestmark = pytest.mark.backends("ledgers")
TOLD = "".join(json.dumps({"role": "user", "content": f"I saw bird {n} in the garden"}) + "\n" for n in range(700))


@pytest.fixture
def hosted() -> Iterator[Service]:
    with models.override_allow_model_requests(True), service(from_memory) as hosted:
        yield hosted


def settings(hosted: Service, model: str = "small") -> dict[str, Any]:
    return {
        "embedding_provider": "openai",
        "embedding_model": model,
        "embedding_base_url": f"{hosted.url}/v1",
        "openai_api_key": "none",
        "agent_retries": 0,
    }


async def test_an_open_memory_opens_the_new_model_by_its_name(
    backend: Backend, tmp_path: Path, hosted: Service
) -> None:
    async with (
        AsyncMemory.open(**backend.at(tmp_path), **settings(hosted)) as memory,
        AsyncMemory.open(**backend.at(tmp_path), **settings(hosted)) as other,
    ):
        for n in range(5):
            await memory.add(f"Clouds over the harbour {n}", user="ana", learn=False)
        assert await other.recall("Clouds over the harbour 3", user="ana")
        done = await memory.migrate_embeddings(to="openai:large")
        assert (done.before, done.after, done.embedded) == ("openai:small", "openai:large", 5)
        found = await other.recall("Clouds over the harbour 4", user="ana")
        assert (found.notes, bool(found)) == ((), True)
        assert (await other.stats()).embedder == "openai:large"
        await other.add("Clouds over the meadow", user="ana", learn=False)
        assert (await memory.stats()).counts["rows_without_vector"] == 0


async def test_settings_that_name_the_model_before_are_followed_and_a_third_is_refused(
    backend: Backend, tmp_path: Path, hosted: Service
) -> None:
    async with AsyncMemory.open(**backend.at(tmp_path), **settings(hosted)) as memory:
        await memory.add("Clouds over the harbour", user="ana", learn=False)
        await memory.migrate_embeddings(to="openai:large")
    for model in ("small", "large"):
        async with AsyncMemory.open(**backend.at(tmp_path), **settings(hosted, model)) as memory:
            assert (await memory.stats()).embedder == "openai:large"
            assert await memory.recall("Clouds over the harbour", user="ana")
    with pytest.raises(EmbedderMismatch, match="migrate-embeddings"):
        await AsyncMemory.open(**backend.at(tmp_path), **settings(hosted, "third"))
    async with AsyncMemory.open(**backend.at(tmp_path), **settings(hosted)) as memory:
        await memory.roll_back_embeddings()
    async with AsyncMemory.open(**backend.at(tmp_path), **settings(hosted, "large")) as memory:
        assert (await memory.stats()).embedder == "openai:small"


def test_sigterm_in_the_command_keeps_what_was_made(
    backend: Backend,
    tmp_path: Path,
    hosted: Service,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told = tmp_path / "told.jsonl"
    told.write_text(TOLD)
    for name, value in backend.variables(tmp_path / "home", **settings(hosted)).items():
        monkeypatch.setenv(name, value)

    def finished(*arguments: str) -> Any:
        capsys.readouterr()
        code, said = run(arguments), capsys.readouterr()
        assert code == 0, said.err
        return json.loads(said.out)

    finished("import", str(told), "--user", "ana", "--no-learn", "--json")
    before = len(hosted.embedded)

    def made() -> int:
        return sum(map(len, hosted.embedded[before:]))

    def slowly(texts: Sequence[str]) -> list[list[float]]:
        if made() > 400:
            time.sleep(1)
        return [vector_of(text) for text in texts]

    usual, hosted.embedding = hosted.embedding, slowly
    command = ["migrate-embeddings", "--to", "openai:large", "--json"]
    process = [sys.executable, "-m", "commonplace.interfaces.cli", *command]
    with subprocess.Popen(process, stderr=subprocess.PIPE, text=True) as ours:
        while ours.poll() is None and made() <= 400:
            time.sleep(0.01)
        ours.send_signal(signal.SIGTERM)
        _, said = ours.communicate()
    hosted.embedding = usual
    assert (ours.returncode, json.loads(said)["error"]) == (130, "Interrupted")
    state = finished("migrate-embeddings", "--json")
    assert (state["model"], state["aside"]["state"], state["aside"]["rows"] > 0) == ("openai:small", "building", True)
    done = finished(*command)
    assert (done["switched"], done["after"], done["embedded"] < done["rows"]) == (True, "openai:large", True)
    assert finished("migrate-embeddings", "--discard", "--json")["aside"] is None


def test_what_the_command_cannot_do_has_an_exit_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMMONPLACE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("COMMONPLACE_LEARN", "false")
    for arguments, code in ((["--roll-back"], 4), (["--to", "nonsense"], 2), (["--discard", "--roll-back"], 2)):
        assert run(["migrate-embeddings", *arguments]) == code
