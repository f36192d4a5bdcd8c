"""Time several ways of doing one thing in turns, so that a busy machine is as hard on one as on the other."""

import gc
import random
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

Call = Callable[[int], Awaitable[object]]
"""One call to be timed. It is told its round, so that no two do exactly the same."""

SPELL = 5
"""Rounds that one contestant makes before it is the next one's turn."""


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
    """How long to go on: so many rounds, or until the time is up and one spell has been made."""

    rounds: int
    seconds: float


async def in_turns(contestants: Mapping[str, Call], effort: Effort, *, warm: int) -> dict[str, Times]:
    """Time the contestants in spells of a few rounds each, in an order that changes, until all rounds are made.

    Spells, because a store may still be busy after it has returned, and would spoil the first call of whoever follows.
    """
    order, spent = list(contestants), {name: list[float]() for name in contestants}
    shuffle = random.Random(len(order)).shuffle
    for turn in range(warm):
        for call in contestants.values():
            await call(turn)
    gc.collect()
    give_up, last = time.perf_counter() + effort.seconds, warm + effort.rounds
    for first in range(warm, last, SPELL):
        shuffle(order)
        for name in order:
            for turn in range(first, min(first + SPELL, last)):
                start = time.perf_counter()
                await contestants[name](turn)
                spent[name].append(time.perf_counter() - start)
        if time.perf_counter() > give_up:
            break
    return {name: Times.of(seconds) for name, seconds in spent.items()}


def blocking(work: Callable[[int], object]) -> Call:
    """Make a contestant of a plain function."""

    async def call(turn: int) -> object:
        return work(turn)

    return call
