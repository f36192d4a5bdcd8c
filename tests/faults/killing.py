"""Kills a process of ours some time after it has begun, wherever it is then."""

import multiprocessing
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

processes = multiprocessing.get_context("forkserver")


Say = Callable[[], None]


def killed(work: Callable[..., None], *given: Any, after: float) -> bool:
    """Run `work(say, *given)` in another process, and kill that so many seconds after it has said that it begins.

    Returns whether it was done sooner.
    """
    said, say = processes.Pipe(duplex=False)
    process = processes.Process(target=_begin, args=(say, work, given))
    process.start()
    say.close()
    said.recv_bytes()
    process.join(after)
    process.kill()
    process.join()
    assert process.exitcode in (0, -9), f"it failed by itself: {process.exitcode}"
    return process.exitcode == 0


def _begin(say: Connection, work: Callable[..., None], given: tuple[Any, ...]) -> None:
    work(lambda: say.send_bytes(b"begun"), *given)
