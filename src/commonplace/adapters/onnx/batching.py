"""One thread that works for many callers at once.

Whoever comes while it works is joined into its next round. A round takes one item from each caller in turn, so a
question does not wait for the rest of a long import. Nothing here belongs to an event loop: callers may come from
several.
"""

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Generic, TypeVar

from commonplace.domain.errors import Closed

Item = TypeVar("Item")
Result = TypeVar("Result")


class Caller(Generic[Item, Result]):
    def __init__(self, items: Sequence[Item]) -> None:
        self.waiting = deque(items)
        self.results: list[Result] = []
        self.answer: Future[list[Result]] = Future()

    def succeed(self) -> None:
        # The answer is refused, without an error, by a caller that was cancelled meanwhile.
        if self.answer.set_running_or_notify_cancel():
            self.answer.set_result(self.results)

    def fail(self, error: Exception) -> None:
        if self.answer.set_running_or_notify_cancel():
            self.answer.set_exception(error)


Served = list[tuple[Caller[Item, Result], Item]]


def take_round(
    callers: deque[Caller[Item, Result]], *, cost: Callable[[Item], int], budget: int
) -> Served[Item, Result]:
    """Take items from the callers in turn until they cost the budget, at least one; forget callers who are served."""
    served: Served[Item, Result] = []
    while callers and budget > 0:
        caller = callers.popleft()
        if caller.answer.done():
            continue
        item = caller.waiting.popleft()
        served.append((caller, item))
        budget -= cost(item)
        if caller.waiting:
            callers.append(caller)
    return served


class SharedBatches(Generic[Item, Result]):
    def __init__(
        self,
        run: Callable[[Sequence[Item]], Sequence[Result]],
        *,
        cost: Callable[[Item], int],
        budget: int,
        name: str,
    ) -> None:
        self._run, self._cost, self._budget = run, cost, budget
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=name)
        self._lock = threading.Lock()
        self._callers: deque[Caller[Item, Result]] = deque()
        self._working = False
        self._closed = False

    async def results(self, items: Sequence[Item]) -> list[Result]:
        """Return one result per item, in order. What `run` raises reaches every caller it worked for."""
        caller: Caller[Item, Result] = Caller(items)
        with self._lock:
            if self._closed:
                raise Closed("the embedder is closed")
            self._callers.append(caller)
            if not self._working:
                self._working = True
                self._thread.submit(self._work)
        return await asyncio.wrap_future(caller.answer)

    def close(self) -> None:
        """Wait for the round that runs, if any. Whoever waits for another one gets Closed."""
        with self._lock:
            self._closed = True
        self._thread.shutdown()

    def _work(self) -> None:
        while served := self._next_round():
            callers = dict.fromkeys(caller for caller, _ in served)
            try:
                results = self._run([item for _, item in served])
            except Exception as error:  # noqa: BLE001 - a worker loop: the failure goes to those who wait for it
                for caller in callers:
                    caller.fail(error)
                continue
            for (caller, _), result in zip(served, results, strict=True):
                caller.results.append(result)
            for caller in callers:
                if not caller.waiting:
                    caller.succeed()

    def _next_round(self) -> Served[Item, Result]:
        with self._lock:
            while self._closed and self._callers:
                caller = self._callers.popleft()
                if not caller.answer.done():
                    caller.fail(Closed("the embedder was closed"))
            served = take_round(self._callers, cost=self._cost, budget=self._budget)
            self._working = bool(served)
            return served
