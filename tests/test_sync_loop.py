"""The event loop behind the blocking memory: what it returns, raises and gives up."""

import asyncio
import signal
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from commonplace.domain.errors import Closed
from commonplace.sync.loop import Loop


async def double(number: int) -> int:
    await asyncio.sleep(0)
    return 2 * number


def test_it_returns_what_the_work_returns_to_each_of_many_threads() -> None:
    loop = Loop()
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda number: loop.call(double(number)), range(200))) == [2 * n for n in range(200)]
    loop.stop()


def test_it_raises_what_the_work_raises() -> None:
    async def fails() -> None:
        raise LookupError("no such thing")

    loop = Loop()
    with pytest.raises(LookupError, match="no such thing"):
        loop.call(fails())
    assert loop.call(double(2)) == 4
    loop.stop()


def test_an_interrupted_call_does_not_go_on_behind_the_callers_back() -> None:
    begun, given_up = threading.Event(), threading.Event()

    async def waits() -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            given_up.set()

    def interrupt() -> None:
        begun.wait()
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    loop = Loop()
    try:
        threading.Thread(target=interrupt).start()
        with pytest.raises(KeyboardInterrupt):
            loop.call(waits())
    finally:
        signal.signal(signal.SIGINT, before)
    assert given_up.wait(10)
    loop.stop()


def test_a_stopped_loop_says_so() -> None:
    loop = Loop()
    loop.stop()
    with pytest.raises(Closed):
        loop.call(double(1))
