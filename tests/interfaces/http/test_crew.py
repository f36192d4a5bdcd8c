"""Several processes on one socket, one above them, and what becomes of them."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PATIENCE = 60.0


def until(done: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not done():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def lives(pid: int) -> bool:
    """Say whether it runs: one that nobody has waited for is not there any more, either."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):  # the second, where it goes between opening and reading
        return False


@dataclass(slots=True)
class Started:
    process: subprocess.Popen[str]
    port: int
    refuses: Path

    def ask(self) -> int:
        """Return the number of the process that answers."""
        with socket.create_connection(("127.0.0.1", self.port), PATIENCE) as asking:
            asking.sendall(b"who?")
            return int(asking.recv(100))

    def starting(self) -> list[int]:
        """Return the processes below, whether they answer or not."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        return [
            pid
            for pid in map(int, children)
            if lives(pid) and b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()
        ]

    def members(self) -> set[int]:
        """Return who answers, once there are two who do."""
        heard: Counter[int] = Counter()
        until(lambda: bool(heard.update([self.ask()])) or len([pid for pid in heard if lives(pid)]) == 2)
        return {pid for pid in heard if lives(pid)}


@pytest.fixture
def crew(tmp_path: Path) -> Iterator[Started]:
    command = [sys.executable, "-m", "tests.interfaces.http.small_server", str(tmp_path / "refuses")]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        port = int(process.stdout.readline().rpartition(":")[2])
        yield Started(process, port, tmp_path / "refuses")
        process.terminate()
        process.wait(PATIENCE)


@contextlib.contextmanager
def asked_all_the_time(crew: Started) -> Iterator[list[Exception]]:
    failed: list[Exception] = []
    over = threading.Event()

    def ask() -> None:
        while not over.is_set():
            try:
                crew.ask()
            except (OSError, ValueError) as error:
                failed.append(error)

    asking = threading.Thread(target=ask)
    asking.start()
    yield failed
    over.set()
    asking.join()


def test_all_are_replaced_one_by_one_and_somebody_always_answers(crew: Started) -> None:
    before = crew.members()
    with asked_all_the_time(crew) as failed:
        crew.process.send_signal(signal.SIGHUP)
        until(lambda: not any(map(lives, before)))
        after = crew.members()
    assert failed == []
    assert not before & after


def test_the_old_ones_stay_when_a_new_one_cannot_start(crew: Started) -> None:
    before = crew.members()
    crew.refuses.touch()
    crew.process.send_signal(signal.SIGHUP)
    time.sleep(2)
    assert crew.members() == before
    crew.refuses.unlink()
    crew.process.send_signal(signal.SIGHUP)
    until(lambda: not any(map(lives, before)))


def test_one_that_is_killed_is_replaced_as_soon_as_that_is_possible(crew: Started) -> None:
    before = crew.members()
    crew.refuses.touch()
    os.kill(min(before), signal.SIGKILL)
    time.sleep(1)
    assert crew.ask() == max(before)
    crew.refuses.unlink()
    assert len(crew.members()) == 2


def test_when_all_are_killed_the_first_that_is_back_need_not_share_the_processor_with_the_others(crew: Started) -> None:
    before, waits = crew.members(), crew.refuses.with_name("waits")
    waits.touch()
    for pid in before:
        os.kill(pid, signal.SIGKILL)
    until(lambda: bool(crew.starting()) and not any(map(lives, before)))
    time.sleep(1)
    assert len(crew.starting()) == 1
    waits.unlink()
    assert len(crew.members()) == 2


def test_they_end_when_the_one_above_them_is_killed(crew: Started) -> None:
    members = crew.members()
    crew.process.kill()
    until(lambda: not any(map(lives, members)))


def test_what_keeps_the_first_from_starting_is_raised(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.interfaces.http.small_server", str(tmp_path)]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert (ran.returncode, ran.stderr) == (1, "it cannot start\n")
