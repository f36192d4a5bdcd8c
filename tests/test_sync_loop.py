"""The event loop behind the blocking memory: what it returns, raises and gives up."""

import asyncio
import gc
import logging
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from commonplace import Memory
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


UNCLOSED = """
import gc
from commonplace import Memory

def said(text):
    memory = Memory.ephemeral(embedder=lambda texts: [[1.0, 0.0]] * len(texts))
    memory.add(text, user="u")
    return memory

said("let go of at once")
gc.collect()
kept = said("kept to the end")
"""


def test_a_memory_that_nobody_closed_is_closed_when_nobody_holds_it(caplog: pytest.LogCaptureFixture) -> None:
    before = set(threading.enumerate())
    memory = Memory.ephemeral(embedder=lambda texts: [[1.0, 0.0]] * len(texts))
    memory.add("hello", user="u")
    (thread,) = [one for one in threading.enumerate() if one not in before and one.name == "commonplace"]
    with caplog.at_level(logging.WARNING):
        del memory
        gc.collect()
        thread.join(30)
    assert not thread.is_alive()
    assert caplog.records == []


def test_a_program_that_closes_nothing_ends_without_a_word() -> None:
    ran = subprocess.run([sys.executable, "-c", UNCLOSED], capture_output=True, text=True, check=False, timeout=120)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")
