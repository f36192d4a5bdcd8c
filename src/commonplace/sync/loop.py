"""An event loop in the background, for code that has none."""

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, Generic, TypeVar

from commonplace.domain.errors import Closed

T = TypeVar("T")


class Loop:
    """An event loop in a thread of its own: a daemon, so that a memory nobody closed does not keep a program alive."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="commonplace", daemon=True)
        self._thread.start()

    def call(self, work: Coroutine[Any, Any, T]) -> T:
        if not self._thread.is_alive():
            work.close()
            raise Closed("this memory is closed")
        call = _Call(work, self._loop)
        self._loop.call_soon_threadsafe(call.start)
        try:
            call.wait()
        except BaseException:
            # Ctrl-C while waiting: the work does not go on behind the caller's back
            self._loop.call_soon_threadsafe(call.cancel)
            raise
        return call.result()

    def stop(self) -> None:
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()


class _Call(Generic[T]):
    """One call that a thread waits for. A bare lock, because `run_coroutine_threadsafe` takes half as long again."""

    def __init__(self, work: Coroutine[Any, Any, T], loop: asyncio.AbstractEventLoop) -> None:
        self._work, self._loop = work, loop
        self._task: asyncio.Task[T] | None = None
        self._running = threading.Lock()
        self._running.acquire()

    def start(self) -> None:
        self._task = self._loop.create_task(self._work)
        self._task.add_done_callback(lambda _: self._running.release())

    def wait(self) -> None:
        self._running.acquire()

    def cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()

    def result(self) -> T:
        assert self._task is not None
        return self._task.result()
