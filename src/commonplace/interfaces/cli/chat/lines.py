"""Where the user's lines come from: a terminal with line editing, or a pipe.

The lines of earlier days are taken from the memory itself and never written to a file of their own: what is forgotten
must be gone from there, too.
"""

import asyncio
import sys
import threading
from typing import Protocol

from commonplace.memory import AsyncMemory

EARLIER = 100
PROMPT = "you › "


class Interrupted(Exception):
    """Ctrl-C at the prompt."""


class Lines(Protocol):
    async def read(self) -> str | None:
        """Return the next line; None at the end. Raises Interrupted."""
        ...


async def lines_for(memory: AsyncMemory, user: str | None, *, person: bool) -> Lines:
    if not person:
        return Piped()
    page = await memory.messages(user=user, limit=EARLIER)
    return Edited([message.text for message in page if message.role == "user" and "\n" not in message.text])


class Piped:
    """Lines of stdin, read by a thread of their own: learning goes on meanwhile."""

    def __init__(self) -> None:
        self._waiting: asyncio.Queue[str | None] = asyncio.Queue()
        self._loop = asyncio.get_running_loop()
        threading.Thread(target=self._pump, name="commonplace-stdin", daemon=True).start()

    async def read(self) -> str | None:
        return await self._waiting.get()

    def _pump(self) -> None:
        for line in sys.stdin:
            self._loop.call_soon_threadsafe(self._waiting.put_nowait, line.rstrip("\r\n"))
        self._loop.call_soon_threadsafe(self._waiting.put_nowait, None)


class Edited:
    """A prompt with line editing and the lines of before."""

    def __init__(self, earlier: list[str]) -> None:
        from prompt_toolkit import PromptSession
        from prompt_toolkit.history import InMemoryHistory

        self._session: PromptSession[str] = PromptSession(history=InMemoryHistory(earlier))

    async def read(self) -> str | None:
        try:
            return await self._session.prompt_async(PROMPT)
        except EOFError:
            return None
        except KeyboardInterrupt:
            raise Interrupted from None
