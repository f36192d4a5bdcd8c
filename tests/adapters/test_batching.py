"""Who is served when: a `run` that waits for the test shows which items were worked on together."""

import asyncio
import threading
from collections import deque
from collections.abc import AsyncIterator, Sequence

import pytest

from commonplace.adapters.onnx.batching import Caller, SharedBatches, take_round
from commonplace.domain.errors import Closed


class Rounds:
    """Doubles numbers; each round waits until the test lets it go. A negative number breaks its round."""

    def __init__(self) -> None:
        self.seen: list[list[int]] = []
        self.started = threading.Semaphore(0)
        self.go = threading.Semaphore(0)

    def run(self, items: Sequence[int]) -> list[int]:
        self.seen.append(list(items))
        self.started.release()
        self.go.acquire()
        if min(items) < 0:
            raise ValueError("negative")
        return [2 * item for item in items]

    async def has_started(self) -> None:
        await asyncio.to_thread(self.started.acquire)


@pytest.fixture
def rounds() -> Rounds:
    return Rounds()


@pytest.fixture
async def batches(rounds: Rounds) -> AsyncIterator[SharedBatches[int, int]]:
    batches = SharedBatches(rounds.run, cost=lambda _: 1, budget=4, name="test")
    yield batches
    rounds.go.release(100)
    await asyncio.to_thread(batches.close)


async def begin(batches: SharedBatches[int, int], *items: int) -> "asyncio.Task[list[int]]":
    call = asyncio.create_task(batches.results(items))
    await asyncio.sleep(0)
    return call


async def test_a_single_caller_is_served_at_once(batches: SharedBatches[int, int], rounds: Rounds) -> None:
    rounds.go.release(1)
    assert await batches.results([1]) == [2]
    assert rounds.seen == [[1]]


async def test_callers_who_come_during_a_round_share_the_next(batches: SharedBatches[int, int], rounds: Rounds) -> None:
    first = await begin(batches, 1)
    await rounds.has_started()
    others = [await begin(batches, n) for n in (2, 3, 4)]
    rounds.go.release(2)
    assert await asyncio.gather(first, *others) == [[2], [4], [6], [8]]
    assert rounds.seen == [[1], [2, 3, 4]]


async def test_a_question_does_not_wait_for_a_long_import(batches: SharedBatches[int, int], rounds: Rounds) -> None:
    bulk = await begin(batches, *range(100, 120))
    await rounds.has_started()
    question = await begin(batches, 1)
    rounds.go.release(2)
    assert await question == [2]
    assert not bulk.done()
    rounds.go.release(100)
    assert await bulk == [2 * n for n in range(100, 120)]
    assert 1 in rounds.seen[1]
    assert all(len(seen) <= 4 for seen in rounds.seen)


async def test_a_caller_who_goes_away_is_not_worked_for(batches: SharedBatches[int, int], rounds: Rounds) -> None:
    first = await begin(batches, 1)
    await rounds.has_started()
    goes, stays = await begin(batches, 2), await begin(batches, 3)
    goes.cancel()
    await asyncio.sleep(0)
    rounds.go.release(2)
    assert [await first, await stays] == [[2], [6]]
    assert rounds.seen == [[1], [3]]


async def test_a_caller_who_goes_away_during_its_round_harms_nobody(
    batches: SharedBatches[int, int], rounds: Rounds
) -> None:
    goes = await begin(batches, 1, 2, 3, 4, 5, 6, 7)
    await rounds.has_started()
    stays = await begin(batches, 8)
    goes.cancel()
    await asyncio.sleep(0)
    rounds.go.release(2)
    assert await stays == [16]
    assert rounds.seen == [[1, 2, 3, 4], [8]]


async def test_a_failure_reaches_those_it_concerns_and_nobody_else(
    batches: SharedBatches[int, int], rounds: Rounds
) -> None:
    first = await begin(batches, 1)
    await rounds.has_started()
    breaks, beside = await begin(batches, -1, 5, 6, 7, 8), await begin(batches, 2)
    rounds.go.release(2)
    assert await first == [2]
    for call in (breaks, beside):
        with pytest.raises(ValueError, match="negative"):
            await call
    rounds.go.release(1)
    assert await batches.results([3]) == [6]
    assert rounds.seen[2:] == [[3]]


async def test_closing_ends_the_round_and_refuses_whoever_waits(
    batches: SharedBatches[int, int], rounds: Rounds
) -> None:
    running = await begin(batches, 1)
    await rounds.has_started()
    refused = [await begin(batches, 2)]
    closing = asyncio.create_task(asyncio.to_thread(batches.close))
    while not refused[-1].done():  # only a closed one refuses before its round is over
        refused.append(await begin(batches, 3))
        await asyncio.sleep(0.001)
    rounds.go.release(1)
    await closing
    assert await running == [2]
    for call in refused:
        with pytest.raises(Closed):
            await call


def test_a_round_takes_from_the_callers_in_turn_up_to_its_budget() -> None:
    long, short = Caller[int, int]([50, 51, 52]), Caller[int, int]([10, 11])
    callers = deque([long, short])
    served = take_round(callers, cost=lambda item: item, budget=115)
    assert [item for _, item in served] == [50, 10, 51, 11]
    assert list(callers) == [long]


def test_an_item_that_costs_more_than_the_budget_is_served_alone() -> None:
    callers = deque([Caller[int, int]([1_000]), Caller[int, int]([1])])
    assert [item for _, item in take_round(callers, cost=lambda item: item, budget=5)] == [1_000]
