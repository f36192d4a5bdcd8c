"""One user with ever more items: exact search against Chroma behind the same recall, and where the lines cross.

That is where `exact_up_to` belongs.
"""

import asyncio
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from functools import partial
from itertools import pairwise

from bench.figures import Figure, Goal, Section, slower, timed
from bench.material import Question
from bench.ours import dense_recall, fill, opening
from bench.rivals import Floor
from bench.scale import WARM, Bench
from bench.timing import Call, Times, blocking, in_turns
from commonplace import AsyncMemory

NAME = "large"
USER = "0"
CHECKED = 20
PATIENCE = 300
"""Seconds to wait for the index to be given everything."""
EXACT, CHROMA, AUTO, FLOOR = "index=exact", "index=chroma", "index=auto", "numpy (floor)"


async def run(bench: Bench) -> Section:
    figures: list[Figure] = []
    folder = bench.folder / NAME
    lines: dict[int, dict[str, Times]] = {}
    async with AsyncExitStack() as stack:
        exact = await stack.enter_async_context(opening(folder, bench.material))
        indexed = await stack.enter_async_context(opening(folder, bench.material, index="chroma"))
        loaded, answered_by = 0, ""
        for size in bench.scale.sizes:
            bench.say(f"large: growing to {size:,} items")
            await fill(exact, bench.material, [(USER, range(loaded, size))])
            loaded = size
            answered_by = await _delivered(bench, indexed)
            lines[size], found = await _case(bench, {EXACT: exact, CHROMA: indexed}, size)
            figures += found
    async with opening(folder, bench.material, index="auto") as memory:
        chosen = await _delivered(bench, memory)
        _, found = await _case(bench, {AUTO: memory}, loaded)
        figures += [figure for figure in found if figure.who != FLOOR]
    # By the quickest tenth: on a busy machine the median says more about the others who work there.
    crossing = crossed({size: times[EXACT].p10 / times[CHROMA].p10 for size, times in lines.items()})
    return Section(
        name=NAME,
        title="one large user: recall by either index",
        figures=tuple(figures),
        notes=(
            f"index=chroma was answered by {answered_by}, index=auto at {loaded:,} items by {chosen}.",
            crossing,
        ),
    )


async def _case(bench: Bench, memories: dict[str, AsyncMemory], size: int) -> tuple[dict[str, Times], list[Figure]]:
    material, case = bench.material, f"{size:,} items of one user"
    floor = Floor(range(size), material.vectors[:size])
    bench.say(f"large: {case}")
    asked = bench.asked(range(size))
    contestants: dict[str, Call] = {name: _recall(memory, asked) for name, memory in memories.items()}
    contestants[FLOOR] = blocking(lambda turn: floor.search(asked[turn].vector))
    times = await in_turns(contestants, bench.scale.effort, warm=WARM)
    checked = bench.asked(range(size), CHECKED)
    share = partial(Figure, section=NAME, case=case, unit="share")
    return times, [
        *timed(NAME, case, times, line="recall of one large user", at=size),
        *(slower(NAME, case, times, name, FLOOR) for name in memories),
        *[
            share(
                who=f"{name}: recall@10 of the dense arm",
                value=await dense_recall(memory, floor, user=USER, questions=checked),
                goal=Goal(at_least=1.0) if name == EXACT else None,
            )
            for name, memory in memories.items()
        ],
    ]


def _recall(memory: AsyncMemory, asked: Sequence[Question]) -> Call:
    return lambda turn: memory.recall(asked[turn].text, user=USER)


async def _delivered(bench: Bench, memory: AsyncMemory) -> str:
    """Ask, so that the index is filled, and wait until it has everything. Returns who answers then."""
    give_up = time.monotonic() + PATIENCE
    await _answered_by(bench, memory)
    while waiting := (await memory.stats()).partitions[0].waiting:
        if time.monotonic() > give_up:
            raise TimeoutError(f"the index still waits for {waiting:,} writes after {PATIENCE} s")
        bench.say(f"large: {waiting:,} writes on their way to the index")
        await asyncio.sleep(0.2)
    return await _answered_by(bench, memory)


async def _answered_by(bench: Bench, memory: AsyncMemory) -> str:
    found = await memory.recall(bench.material.ask(0).text, user=USER, limit=1, min_relevance=0, explain=True)
    return found[0].why.path if found[0].why else ""


def crossed(ratios: dict[int, float]) -> str:
    """Say between which sizes exact search becomes slower than the index."""
    sizes = sorted(ratios)
    for smaller, larger in pairwise(sizes):
        if ratios[smaller] <= 1 < ratios[larger]:
            return f"The lines cross between {smaller:,} and {larger:,} items: exact_up_to belongs there."
    side = "exact search" if ratios[sizes[-1]] <= 1 else "the index"
    return f"The lines do not cross between {sizes[0]:,} and {sizes[-1]:,} items: {side} is faster throughout."
