"""What other processes changed: rows that are held here are brought up to date before anybody asks for them.

It saves time and never decides what is right: each use still compares the ledger's version. What was forgotten
elsewhere goes from the RAM of this process, too.
"""

import asyncio
import logging
from collections.abc import Callable
from typing import assert_never

from commonplace.domain.errors import Unavailable
from commonplace.domain.scope import Scope
from commonplace.engine.choosing import Choosing
from commonplace.engine.corpora import Corpora
from commonplace.engine.parts import Parts
from commonplace.ports.shared import Changed, Missed, News
from commonplace.stopping import stop

LOG = logging.getLogger(__name__)


class Listening:
    def __init__(self, parts: Parts, corpora: Corpora, choosing: Choosing) -> None:
        self._copies, self._corpora, self._choosing = parts.copies, corpora, choosing
        self._waiting: dict[Scope, bool] = {}
        self._woken = asyncio.Event()
        self._end: Callable[[], None] | None = None
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        if self._copies is not None:
            self._end = self._copies.listen(self._hear)
            self._task = asyncio.create_task(self._work(), name="commonplace-listening")

    async def aclose(self) -> None:
        if self._end is not None and self._task is not None:
            self._end()
            await stop(self._task)
            self._end = self._task = None

    def _hear(self, news: News) -> None:
        match news:
            case Changed(scope=scope, forgotten=forgotten):
                self._waiting[scope] = forgotten or self._waiting.get(scope, False)
                self._woken.set()
                if forgotten:
                    self._choosing.clear()
            case Missed():
                self._choosing.clear()
                self._corpora.clear()
            case _:
                assert_never(news)

    async def _work(self) -> None:
        while True:
            await self._woken.wait()
            self._woken.clear()
            while self._waiting:
                scope, forgotten = self._waiting.popitem()
                try:
                    await (self._corpora.drop(scope) if forgotten else self._corpora.refresh(scope))
                except Unavailable as error:
                    LOG.warning("rows could not be brought up to date: %s", type(error).__name__)
