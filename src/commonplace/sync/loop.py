"""An event loop in the background, for code that has none."""

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

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
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()  # Ctrl-C while waiting: the work does not go on behind the caller's back
            raise

    def stop(self) -> None:
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()
