"""Of two processes one does a chore; when it is killed, or stopped for longer than its lease, the other takes over."""

import multiprocessing
import os
import signal
import time
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import pytest

from tests.backends import Backend
from tests.faults.chore_doer import LEASE, main

processes = multiprocessing.get_context("forkserver")
processes.set_forkserver_preload(["tests.faults.chore_doer"])

pytestmark = pytest.mark.backends("ledgers")


def start(place: dict[str, Any], log: Path, *, seconds: float) -> BaseProcess:
    process = processes.Process(target=main, args=(place, log, seconds))
    process.start()
    return process


def said(log: Path) -> list[str]:
    return log.read_text().splitlines() if log.exists() else []


def wait_for_lines(log: Path, count: int) -> None:
    for _ in range(600):
        if len(said(log)) >= count:
            return
        time.sleep(0.05)
    raise AssertionError(said(log))


def test_a_chore_goes_to_another_process_when_its_own_is_killed(backend: Backend, tmp_path: Path) -> None:
    place, log = backend.at(tmp_path / "memory"), tmp_path / "log"
    leader = start(place, log, seconds=600)
    wait_for_lines(log, 1)
    follower = start(place, log, seconds=0)
    time.sleep(2 * LEASE)  # the leader prolongs its lease
    assert said(log) == [f"begun {leader.pid}"]
    leader.kill()
    follower.join(30)
    assert said(log) == [f"begun {leader.pid}", f"begun {follower.pid}", f"done {follower.pid}"]
    leader.join()


def test_a_process_that_was_stopped_for_too_long_breaks_off_its_chore(backend: Backend, tmp_path: Path) -> None:
    place, log = backend.at(tmp_path / "memory"), tmp_path / "log"
    leader = start(place, log, seconds=600)
    wait_for_lines(log, 1)
    assert leader.pid is not None
    os.kill(leader.pid, signal.SIGSTOP)
    follower = start(place, log, seconds=4 * LEASE)
    wait_for_lines(log, 2)
    os.kill(leader.pid, signal.SIGCONT)
    wait_for_lines(log, 4)
    leader.kill()
    leader.join()
    follower.join()
    assert said(log)[:2] == [f"begun {leader.pid}", f"begun {follower.pid}"]
    assert set(said(log)[2:]) == {f"broken off {leader.pid}", f"done {follower.pid}"}
