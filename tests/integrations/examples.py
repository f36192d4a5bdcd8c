"""Runs the examples as somebody would: each call in a process of its own."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

EXAMPLES = Path(__file__).parents[2] / "examples"
Run = Callable[..., str]


def runner(name: str, environment: dict[str, str]) -> Run:
    def run(*arguments: str) -> str:
        command = [sys.executable, str(EXAMPLES / name), *arguments]
        ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=300)
        assert ran.returncode == 0, ran.stderr
        return ran.stdout

    return run
