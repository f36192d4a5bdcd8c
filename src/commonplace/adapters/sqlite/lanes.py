"""Threads that own one connection each and run transactions on it, away from the event loop.

Writes that queue up while one is being written share the next transaction, and with it the wait for the disk; each
sits in a savepoint of its own, so one that fails takes nothing else with it.
"""

import asyncio
import contextlib
import queue
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from commonplace.adapters.sqlite.columns import Connection
from commonplace.adapters.sqlite.transactions import Begin, in_transaction

T = TypeVar("T")
Clock = Callable[[], float]


@dataclass(slots=True, eq=False)
class _Task(Generic[T]):
    work: Callable[[Connection], T]
    future: asyncio.Future[T]
    loop: asyncio.AbstractEventLoop
    alone: bool = False
    """Outside of any transaction, as some statements want it."""
    result: T | None = None
    error: Exception | None = None


class Lane:
    """Runs transactions in the order they come, on as many threads as it has. The first use of a thread connects it."""

    def __init__(
        self,
        connect: Callable[[], Connection],
        *,
        begin: Begin,
        threads: int = 1,
        group: int = 1,
        translate: Callable[[Exception], Exception],
        clock: Clock = time.perf_counter,
    ) -> None:
        self.took = 0.0
        """Seconds of the last transaction that a call had for itself."""
        self._clock = clock
        self._connect, self._begin, self._group, self._translate = connect, begin, group, translate
        self._queue: queue.SimpleQueue[_Task[Any] | None] = queue.SimpleQueue()
        self._threads = [
            threading.Thread(target=self._serve, name=f"commonplace-{begin.replace(' ', '-')}-{number}", daemon=True)
            for number in range(threads)
        ]
        for thread in self._threads:
            thread.start()

    async def run(self, work: Callable[[Connection], T]) -> T:
        """Run `work` in a transaction. It is committed on return, and undone if `work` raises."""
        return await self._put(work, alone=False)

    async def run_alone(self, work: Callable[[Connection], T]) -> T:
        """Run `work` outside of a transaction, when what came before it is committed."""
        return await self._put(work, alone=True)

    async def _put(self, work: Callable[[Connection], T], *, alone: bool) -> T:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        self._queue.put(_Task(work, future, loop, alone))
        return await future

    async def stop(self) -> None:
        """Finish what is queued, then close the connections."""
        for _ in self._threads:
            self._queue.put(None)
        for thread in self._threads:
            await asyncio.to_thread(thread.join)

    def _serve(self) -> None:
        connection: Connection | None = None
        while (group := self._next_group()) is not None:
            try:
                connection = connection or self._connect()
                self._transact(connection, [task for task in group if not task.alone])
                _run_alone(connection, [task for task in group if task.alone])
            except Exception as error:  # noqa: BLE001 - handed to those who wait for it
                for task in group:
                    task.error = task.error or error
            self._hand_over(group)
        if connection is not None:
            connection.close()

    def _transact(self, connection: Connection, group: Sequence[_Task[Any]]) -> None:
        if not group:
            return
        started = self._clock()
        in_transaction(connection, self._begin, lambda connection: _run(connection, group))
        if len(group) == 1:
            self.took = self._clock() - started

    def _next_group(self) -> Sequence[_Task[Any]] | None:
        task = self._queue.get()
        if task is None:
            return None
        group = [task]
        while len(group) < self._group:
            try:
                following = self._queue.get_nowait()
            except queue.Empty:
                break
            if following is None:
                self._queue.put(None)
                break
            group.append(following)
        return group

    def _hand_over(self, group: Sequence[_Task[Any]]) -> None:
        for task in group:
            if task.error is not None:
                task.error = self._translate(task.error)
        for loop in {task.loop for task in group}:
            mine = [task for task in group if task.loop is loop]
            # A loop that was closed meanwhile has nobody left who waits.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(_settle, mine)


def _settle(tasks: Sequence[_Task[Any]]) -> None:
    for task in tasks:
        if task.future.done():
            continue
        if task.error is not None:
            task.future.set_exception(task.error)
        else:
            task.future.set_result(task.result)


def _run_alone(connection: Connection, tasks: Sequence[_Task[Any]]) -> None:
    for task in tasks:
        try:
            task.result = task.work(connection)
        except Exception as error:  # noqa: BLE001 - handed to the one who waits for it
            task.error = error


def _run(connection: Connection, group: Sequence[_Task[Any]]) -> None:
    for task in group:
        if task.future.cancelled():
            continue
        if len(group) == 1:
            task.result = task.work(connection)
        else:
            _attempt(connection, task)


def _attempt(connection: Connection, task: _Task[Any]) -> None:
    """Run one of several. Its failure is its own, unless SQLite gave up the whole transaction (disk full)."""
    connection.execute("savepoint task")
    try:
        task.result = task.work(connection)
    except Exception as error:
        if not connection.in_transaction:
            raise
        connection.execute("rollback to task")
        task.error = error
    connection.execute("release task")
