"""Client: AsyncClient for code that has no event loop. It is a Memory, whose calls go to a service."""

from typing import cast

from commonplace.client.memory import TIMEOUT, AsyncClient
from commonplace.memory import AsyncMemory
from commonplace.sync import Memory
from commonplace.sync.loop import Loop


class Client(Memory):
    """The memory of a service, for code without an event loop. Safe to share between threads."""

    def __init__(self, url: str, *, key: str | None = None, timeout: float = TIMEOUT) -> None:
        # The same methods with the same arguments, which a test compares: Memory only passes them on.
        self._memory = cast(AsyncMemory, AsyncClient(url, key=key, timeout=timeout))
        self._loop = Loop()  # after what may be refused: it runs
        self._loop.serve(self, self._memory.aclose)
