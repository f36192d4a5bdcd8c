"""Several processes that serve on one listening socket, and the one above them that serves nothing.

The socket stays open in that one, so a caller never finds nobody listening. A process that dies is started again.
SIGHUP replaces them one by one, each only when its successor answers: with what is installed and set by then.
"""

import contextlib
import logging
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from types import FrameType
from typing import Protocol

from commonplace.domain.errors import CommonplaceError, Incompatible, InvalidInput, Unavailable

LOG = logging.getLogger("commonplace.http")
LOOK = 0.2
"""Seconds until a signal is noticed."""
LONGEST_PAUSE = 10.0
"""Most seconds until a process that could not start is tried again."""
READY = "ready"


class Work(Protocol):
    """What a process of the crew does. It says `ready` when it answers, and ends when it is told to by SIGTERM."""

    def __call__(self, *, ready: Callable[[], None]) -> None: ...


@dataclass(slots=True, eq=False)
class _Member:
    process: BaseProcess
    reports: Connection
    ready: bool = False
    error: CommonplaceError | None = None
    """Why it could not start, if it could say."""


class Crew:
    def __init__(self, size: int, work: Work, *, ready: Callable[[], None]) -> None:
        """`work` must be something that can be sent to another process. `ready` is called when the first answers."""
        self._size, self._work, self._told_ready = size, work, ready
        self._serving: list[_Member] = []
        self._leaving: list[_Member] = []
        self._outdated: list[_Member] = []
        """Serve until their successors are ready."""
        self._ever_ready = False
        self._failures, self._not_before = 0, 0.0
        self._ending = 0
        """How often it was told to end."""

    def run(self) -> None:
        """Serve until SIGTERM or SIGINT. Raises what kept the first process from starting."""
        with self._signals():
            try:
                while not self._ending:
                    self._fill()
                    self._look()
            finally:
                self._end()

    @contextlib.contextmanager
    def _signals(self) -> Iterator[None]:
        def end(number: int, frame: FrameType | None) -> None:
            self._ending += 1

        def replace(number: int, frame: FrameType | None) -> None:
            self._outdated = list(self._serving)

        wanted = {signal.SIGTERM: end, signal.SIGINT: end, signal.SIGHUP: replace}
        before = {number: signal.signal(number, handler) for number, handler in wanted.items()}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _fill(self) -> None:
        """Start who is missing, and one successor at a time.

        While nobody answers there is one that starts: two at once would take each other's processor time.
        """
        if time.monotonic() < self._not_before:
            return
        wanted = self._size + bool(self._outdated) if any(member.ready for member in self._serving) else 1
        while len(self._serving) < wanted:
            self._serving.append(_started(self._work))

    def _look(self) -> None:
        """Wait for news, and act on them."""
        members = [*self._serving, *self._leaving]
        news = {member.reports: member for member in members if not member.ready and not member.reports.closed}
        for one in wait([*news, *(member.process.sentinel for member in members)], LOOK):
            if isinstance(one, Connection):
                self._heard(news[one])
        for member in [member for member in members if not member.process.is_alive()]:
            self._gone(member)

    def _heard(self, member: _Member) -> None:
        try:
            said = member.reports.recv()
        except (EOFError, OSError):
            member.reports.close()
            return
        if said != READY:
            member.error = _error_of(*said)
            return
        member.ready, self._failures = True, 0
        if not self._ever_ready:
            self._ever_ready = True
            self._told_ready()
        if self._outdated and member not in self._outdated:
            self._dismiss(self._outdated.pop(0))

    def _dismiss(self, member: _Member) -> None:
        self._serving.remove(member)
        self._leaving.append(member)
        _tell(member, signal.SIGTERM)

    def _gone(self, member: _Member) -> None:
        member.process.join()
        member.reports.close()
        if member in self._leaving:
            self._leaving.remove(member)
            return
        self._serving.remove(member)
        if member in self._outdated:
            self._outdated.remove(member)
        if member.ready:
            LOG.warning("process %s has gone (%s), and is replaced", member.process.pid, member.process.exitcode)
            return
        if not self._ever_ready:
            raise member.error or Unavailable(f"a process of the service ended with {member.process.exitcode}")
        if self._outdated:
            LOG.warning("a new process could not start, so the old ones stay: %s", member.error)
            self._outdated = []
        self._failures += 1
        self._not_before = time.monotonic() + min(0.25 * 2**self._failures, LONGEST_PAUSE)

    def _end(self) -> None:
        """End everybody; told twice, at once."""
        members, told = [*self._serving, *self._leaving], 0
        while any(member.process.is_alive() for member in members):
            if told <= self._ending:
                for member in members:
                    _tell(member, signal.SIGTERM)
                told = self._ending + 1
            wait([member.process.sentinel for member in members if member.process.is_alive()], LOOK)


def _started(work: Work) -> _Member:
    # Not by fork: threads and locks of this process would come along, half-way through whatever they were doing.
    processes = multiprocessing.get_context("spawn")
    ours, theirs = processes.Pipe()
    process = processes.Process(target=_serve, args=(work, theirs), name="commonplace-serve")
    process.start()
    theirs.close()
    return _Member(process, ours)


def _serve(work: Work, reports: Connection) -> None:
    os.setsid()  # Ctrl-C in the terminal is for the process above, which tells its own
    _end_with_whoever_started_it(reports)
    try:
        work(ready=lambda: reports.send(READY))
    except CommonplaceError as error:
        reports.send((type(error), str(error)))
        raise SystemExit(1) from None


def _end_with_whoever_started_it(reports: Connection) -> None:
    """End in good order when the other side of the pipe is gone, as after kill -9."""

    def watch() -> None:
        with contextlib.suppress(EOFError, OSError):
            reports.recv()
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, name="commonplace-watch", daemon=True).start()


def _error_of(kind: type[CommonplaceError], message: str) -> CommonplaceError:
    known = issubclass(kind, (InvalidInput, Unavailable, Incompatible))
    return kind(message) if known else Unavailable(message)


def _tell(member: _Member, number: int) -> None:
    if member.process.pid is not None and member.process.is_alive():
        os.kill(member.process.pid, number)
