"""An event loop in the background, for code that has none.

What nobody closed is closed when nobody holds it any more; at the end of the program it is only stopped, because the
threads that files need are gone by then.
"""

import asyncio
import atexit
import threading
import weakref
from collections.abc import Callable, Coroutine
from typing import Any, Generic, TypeVar

from commonplace.domain.errors import Closed
from commonplace.stopping import stop

T = TypeVar("T")
PATIENCE = 5.0
"""Seconds that the end of a program waits for what is under way to stop."""


class Loop:
    """An event loop in a thread of its own: a daemon, so that a memory nobody closed does not keep a program alive."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="commonplace", daemon=True)
        self._thread.start()
        _RUNNING.add(self)

    def _run(self) -> None:
        try:
            self._loop.run_forever()
        finally:
            self._loop.close()

    def call(self, work: Coroutine[Any, Any, T]) -> T:
        if not self._thread.is_alive():
            work.close()
            raise Closed("this memory is closed")
        call = _Call(work, self._loop)
        try:
            self._loop.call_soon_threadsafe(call.start)
            call.wait()
        except BaseException:
            # Ctrl-C meanwhile: the work does not go on behind the caller's back
            self._loop.call_soon_threadsafe(call.cancel)
            raise
        return call.result()

    def stop(self) -> None:
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()

    def serve(self, face: object, closing: Callable[[], Coroutine[Any, Any, object]]) -> None:
        """Close what runs here, and stop, when nobody holds the `face` any more.

        Nobody waits for it: whoever lets go of the last reference may hold a lock that closing needs.
        """
        weakref.finalize(face, self._let_go, closing).atexit = False

    def _let_go(self, closing: Callable[[], Coroutine[Any, Any, object]]) -> None:
        if self._thread.is_alive():
            self._end(_closed(closing))

    def abandon(self) -> None:
        """Cancel what is under way and stop, as the program ends."""
        self._end(_cancelled())
        self._thread.join(PATIENCE)

    def _end(self, work: Coroutine[Any, Any, None]) -> None:
        async def last() -> None:
            try:
                await work
            finally:
                self._loop.stop()

        self._loop.call_soon_threadsafe(_Call(last(), self._loop).start)


_RUNNING: weakref.WeakSet[Loop] = weakref.WeakSet()
"""A thread holds its loop: each is here until it has stopped."""


@atexit.register
def _abandon_all() -> None:
    for loop in [loop for loop in _RUNNING if loop._thread.is_alive()]:
        loop.abandon()


async def _closed(closing: Callable[[], Coroutine[Any, Any, object]]) -> None:
    try:
        await closing()
    except RuntimeError:
        # the program ends meanwhile: no thread takes work any more, and nothing is lost, as after a kill
        if threading.main_thread().is_alive():
            raise


async def _cancelled() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    await stop(*others)
    await asyncio.gather(*others, return_exceptions=True)


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
        if self._task is None:  # interrupted before it was begun
            self._work.close()
        else:
            self._task.cancel()

    def result(self) -> T:
        assert self._task is not None
        return self._task.result()
