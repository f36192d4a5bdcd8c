"""A `commonplace` that starts at once: each run is a process of its own, forked from one that has imported the most.

Nothing is opened before the fork: a run shares with the one before it what is in the folder, and nothing else. What a
command imports by itself is seen where it is started for real: see tests/test_import.py and tests/interfaces/cli.
"""

import contextlib
import importlib
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

IMPORTED = (
    "commonplace.adapters.chroma",
    "commonplace.adapters.onnx.embedder",
    "commonplace.adapters.rules",
    "commonplace.adapters.sqlite",
    "commonplace.interfaces.cli.app",
    "commonplace.settings",
    "commonplace.sync.memory",
    "typer._adapters",
)
ASKING = """
import json, os, socket, sys

asked = socket.socket(socket.AF_UNIX)
asked.connect(sys.argv[1])
call = {"arguments": sys.argv[2:], "folder": os.getcwd(), "environment": dict(os.environ)}
socket.send_fds(asked, [json.dumps(call).encode() + b"\\n"], [0, 1, 2])
sys.exit(int(asked.recv(16)))
"""


@contextlib.contextmanager
def commonplace_at_once(folder: Path) -> Iterator[Path]:
    """Yield a folder, to be put first on the PATH, with the command in it."""
    address, asking, command = folder / "socket", folder / "ask.py", folder / "bin" / "commonplace"
    asking.write_text(ASKING)
    command.parent.mkdir()
    command.write_text(f"#!/bin/sh\nexec '{sys.executable}' -IS '{asking}' '{address}' \"$@\"\n")
    command.chmod(0o755)
    with subprocess.Popen([sys.executable, "-m", __name__, str(address)], stdout=subprocess.PIPE) as ready:
        assert ready.stdout is not None
        assert ready.stdout.readline() == b"ready\n"
        try:
            yield command.parent
        finally:
            ready.terminate()


def main(address: str) -> None:
    for module in IMPORTED:
        importlib.import_module(module)
    assert threading.active_count() == 1, "a thread that was started by an import would not live on after the fork"
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(address)
        door.listen()
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        while True:
            asked, _ = door.accept()
            if os.fork() == 0:
                break
            asked.close()
            with contextlib.suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
    answer(asked)


def answer(asked: socket.socket) -> None:
    said, given, _, _ = socket.recv_fds(asked, 65_536, 3)
    while not said.endswith(b"\n"):
        said += asked.recv(65_536)
    if (run := os.fork()) != 0:
        _, status = os.waitpid(run, 0)
        asked.send(str(os.waitstatus_to_exitcode(status)).encode())
        os._exit(0)
    asked.close()
    for number, file in enumerate(given):
        os.dup2(file, number)
        os.close(file)
    perform(**json.loads(said))


def perform(*, arguments: list[str], folder: str, environment: dict[str, str]) -> None:
    from commonplace.interfaces.cli import main as commonplace

    sys.stdin, sys.stdout, sys.stderr = os.fdopen(0), os.fdopen(1, "w"), os.fdopen(2, "w")
    os.chdir(folder)
    os.environ.clear()  # noqa: TID251  # those of this process are not those of who asks
    os.environ.update(environment)  # noqa: TID251
    sys.argv = ["commonplace", *arguments]
    commonplace()


if __name__ == "__main__":
    main(sys.argv[1])
