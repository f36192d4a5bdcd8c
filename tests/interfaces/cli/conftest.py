"""Commands as a user runs them: in this process for speed, or in one of their own where that is the point."""

import io
import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from commonplace.interfaces.cli.app import run
from commonplace.settings import Settings
from commonplace.wiring import describe_model

Cli = Callable[..., "Ran"]


@dataclass(frozen=True, slots=True)
class Ran:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty memory folder, and an embedding model that is nowhere: what is found is found by its words."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COMMONPLACE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("COMMONPLACE_MODEL_CACHE", str(tmp_path / "no-model"))
    monkeypatch.setenv("COLUMNS", "100")
    return tmp_path / "home"


@pytest.fixture
def with_model(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The embedding model after all, from where `commonplace model fetch` keeps it."""
    monkeypatch.delenv("COMMONPLACE_MODEL_CACHE")
    if not describe_model(Settings.from_sources()).ready:
        pytest.skip("needs the embedding model: commonplace model fetch")


@pytest.fixture
def cli(home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Run a command in this process."""

    def call(*arguments: str | Path, stdin: str = "") -> Ran:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode("utf-8", "surrogatepass"))))
        code = run([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Ran(code, captured.out, captured.err)

    return call


@pytest.fixture
def process(tmp_path: Path, environment: dict[str, str]) -> Cli:
    """Run a command in a process of its own."""

    def call(*arguments: str | Path, **more: str) -> Ran:
        command = [sys.executable, "-m", "commonplace.interfaces.cli", *map(str, arguments)]
        own = environment | {"COMMONPLACE_MODEL_CACHE": str(tmp_path / "no-model")} | more
        ran = subprocess.run(command, cwd=tmp_path, env=own, capture_output=True, text=True, check=False)
        return Ran(ran.returncode, ran.stdout, ran.stderr)

    return call
