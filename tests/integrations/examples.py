"""Runs the examples as somebody would: each call in a process of its own."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

EXAMPLES = Path(__file__).parents[2] / "examples"
STAGE = Path(__file__).with_name("stage.py")
Run = Callable[..., str]
Staging = Callable[[str, dict[str, str]], Run]


@contextmanager
def staged(name: str, environment: dict[str, str], outputs: Path) -> Iterator[Run]:
    """Yield what runs an example with arguments, and returns what it printed. Its imports are made once."""
    command = [sys.executable, str(STAGE), str(EXAMPLES / name)]
    out, err = outputs / "out", outputs / "err"
    pipe = subprocess.PIPE
    with (
        err.open("w") as errors,
        subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe, stderr=errors, text=True) as stage,
    ):
        assert stage.stdin is not None and stage.stdout is not None
        asking, answers = stage.stdin, stage.stdout

        def run(*arguments: str) -> str:
            print(json.dumps({"arguments": arguments, "out": str(out), "err": str(err)}), file=asking, flush=True)
            assert answers.readline() == "0\n", err.read_text()
            return out.read_text()

        yield run
