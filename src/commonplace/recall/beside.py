"""Work on a thread of its own while this one goes on: numpy lets go of the interpreter in long products."""

import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
BESIDE = "commonplace-beside"
"""The name of the threads."""


def beside(work: Callable[[], T]) -> Callable[[], T]:
    """Begin the work, and return what waits for its result. A thread each time: a pool would not outlive a fork."""
    done: list[T] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            done.append(work())
        except BaseException as error:  # noqa: BLE001 - raised again by who waits
            failed.append(error)

    def result() -> T:
        thread.join()
        if failed:
            raise failed[0]
        return done[0]

    thread = threading.Thread(target=run, name=BESIDE, daemon=True)
    thread.start()
    return result
