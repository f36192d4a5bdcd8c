"""Time several ways of doing one thing in turns, A B A B, so that a busy machine is as hard on one as on the other."""

import gc
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

Call = Callable[[int], Awaitable[object]]
"""One call to be timed. It is told its round, so that no two do exactly the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """Milliseconds."""

    p10: float
    p50: float
    p95: float

    @classmethod
    def of(cls, seconds: Sequence[float]) -> Self:
        p10, p50, p95 = (float(value) for value in 1_000 * np.percentile(seconds, [10, 50, 95]))
        return cls(p10=p10, p50=p50, p95=p95)


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """How long to go on: so many rounds, or until the time is up and a few rounds have been made."""

    rounds: int
    seconds: float
    least: int = 5


async def in_turns(contestants: Mapping[str, Call], effort: Effort, *, warm: int) -> dict[str, Times]:
    """Time each contestant once a round. Who begins changes, because the first has the coldest caches."""
    names = list(contestants)
    spent: dict[str, list[float]] = {name: [] for name in names}
    for turn in range(warm):
        for name in names:
            await contestants[name](turn)
    gc.collect()
    give_up = time.perf_counter() + effort.seconds
    for turn in range(warm, warm + effort.rounds):
        first = turn % len(names)
        for name in names[first:] + names[:first]:
            start = time.perf_counter()
            await contestants[name](turn)
            spent[name].append(time.perf_counter() - start)
        if time.perf_counter() > give_up and turn - warm + 1 >= effort.least:
            break
    return {name: Times.of(seconds) for name, seconds in spent.items()}


def blocking(work: Callable[[int], object]) -> Call:
    """Make a contestant of a plain function."""

    async def call(turn: int) -> object:
        return work(turn)

    return call
