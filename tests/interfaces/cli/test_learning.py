import contextlib
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic_ai import models

from tests.interfaces.cli.conftest import Cli
from tests.learning.scripted_model import Failing, ScriptedModel, by_rules, serving


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedModel]:
    with serving(by_rules) as model, models.override_allow_model_requests(True):
        monkeypatch.setenv("AGENT_MODEL", "openai:m")
        monkeypatch.setenv("COMMONPLACE_AGENT_BASE_URL", f"{model.url}/v1")
        monkeypatch.setenv("COMMONPLACE_LEARNING_ATTEMPTS", "1")
        yield model


def test_what_failed_is_listed_and_tried_again(cli: Cli, scripted: ScriptedModel) -> None:
    scripted.answer = lambda prompt: Failing(500)
    assert "failed: ModelUnavailable" in cli("add", "I live in Paris", "--wait", "--id", "m1").err
    listed = cli("learn", "--failed", "--json")
    assert listed.code == 1
    assert [(job["message"], job["status"], job["attempts"]) for job in listed.json["jobs"]] == [("m1", "dead", 1)]
    scripted.answer = by_rules
    replayed = cli("learn", "--failed", "--replay")
    assert (replayed.code, "Queued again: 1." in replayed.out) == (0, True)
    cli("add", "I like tea", "--wait")
    deadline = time.monotonic() + 60
    while len(cli("facts", "--json").json) < 2 and time.monotonic() < deadline:
        cli("learn")
    assert {fact["value"] for fact in cli("facts", "--json").json} == {"Paris", "tea"}
    assert "Nothing waits." in cli("learn", "--failed").out


def test_a_spent_budget_is_shown(cli: Cli, scripted: ScriptedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMMONPLACE_LEARNING_TOKENS_PER_DAY", "0")
    assert "Still to be learned from: 1." in cli("add", "I live in Paris", "--wait").out
    assert "learning rests until" in cli("learn").out


def test_relearn_shows_what_it_would_change_and_writes_it_when_asked(cli: Cli) -> None:
    cli("add", "I live in Paris", "--no-learn", "--user", "u1")
    assert "Nothing is written yet: --apply does it." in cli("relearn", "--user", "u1").out
    assert cli("facts", "--user", "u1", "--json").json == []
    done = cli("relearn", "--user", "u1", "--apply", "--json").json
    assert ([fact["value"] for fact in done["added"]], done["applied"]) == (["Paris"], True)
    assert [fact["value"] for fact in cli("facts", "--user", "u1", "--json").json] == ["Paris"]
    assert "nothing changes" in cli("relearn", "--user", "u1").out


def waiting(home: Path) -> list[str]:
    """Return whose jobs wait, without opening the memory, which would do them."""
    with contextlib.closing(sqlite3.connect(home / "ledger.db")) as ledger:
        return sorted(tenant for (tenant,) in ledger.execute("select tenant from jobs"))


def test_a_worker_learns_for_every_tenant_until_it_is_told_to_stop(
    cli: Cli, scripted: ScriptedModel, home: Path, tmp_path: Path
) -> None:
    cli("key", "create", "--tenant", "acme")
    scripted.held.clear()
    cli("add", "I live in Paris")
    cli("add", "I live in Paris", "--tenant", "acme")
    assert waiting(home) == ["acme", "default"]
    scripted.held.set()
    worker = subprocess.Popen(
        [sys.executable, "-m", "commonplace.interfaces.cli", "worker"],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert worker.stderr is not None
        assert "Learning from what waits" in worker.stderr.readline()
        while waiting(home):
            assert worker.poll() is None
            time.sleep(0.05)
        worker.send_signal(signal.SIGTERM)
        assert (worker.wait(60), worker.stderr.read()) == (0, "Stopped.\n")
        worker.stderr.close()
    finally:
        worker.kill()
        worker.wait()
