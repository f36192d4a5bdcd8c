"""One thread for all calls to chromadb, which block, and which it does not make safe to run side by side."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from commonplace.domain.errors import IndexUnavailable

T = TypeVar("T")


class Worker:
    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="commonplace-chroma")

    async def run(self, work: Callable[[], T]) -> T:
        """Run it on the thread. Whatever chromadb raises is an IndexUnavailable for the caller."""
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(self._thread, work)
        except IndexUnavailable:
            raise
        except Exception as error:  # noqa: BLE001  chromadb raises its own errors, httpx's, pyo3's and plain ones
            raise IndexUnavailable(f"chroma: {type(error).__name__}: {error}") from error

    async def stop(self) -> None:
        await asyncio.to_thread(self._thread.shutdown)
