"""One message with its embedding given, kept durably: what a call takes, and how many times less than with Chroma."""

from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack

from bench.figures import Goal, Section, faster, slower, timed
from bench.material import statement
from bench.ours import fill, opening
from bench.rivals import Chroma, PlainTable, chroma
from bench.scale import WARM, Bench
from bench.timing import Call, Effort, Times, blocking, in_turns
from commonplace import AsyncMemory, Memory

NAME = "write"
HELD = 1_000
"""Items that each store holds before."""
OURS, BLOCKING = "Commonplace", "Commonplace, blocking"
TALK, LEARNS = "Commonplace, learning, nothing to learn", "Commonplace, learning a fact"
CHROMA, DOUBLE, TABLE = "Chroma add", "SQLite + Chroma", "SQLite row + vector (floor)"


async def run(bench: Bench) -> Section:
    held = range(min(HELD, bench.scale.items))
    bench.say(f"write: {len(held):,} items in each store first")
    async with AsyncExitStack() as stack:
        contestants = await _ours(bench, stack, held=held) | _rivals(bench, stack, held=held)
        bench.say("write: in turns")
        effort = Effort(rounds=2 * bench.scale.effort.rounds, seconds=5 * bench.scale.effort.seconds)
        times = await in_turns(contestants, effort, warm=WARM)
        bench.say("write: each for itself")
        alone = await _one_after_another(contestants, effort, after=WARM + effort.rounds)
    case, loop = "one message", "one after another"
    figures = [
        *timed(NAME, case, times),
        faster(NAME, case, times, OURS, CHROMA, goal=Goal(at_least=10)),
        faster(NAME, case, times, OURS, DOUBLE),
        faster(NAME, case, times, LEARNS, CHROMA),
        slower(NAME, case, times, OURS, TABLE),
        *timed(NAME, loop, alone),
        faster(NAME, loop, alone, OURS, CHROMA, goal=Goal(at_least=10)),
        faster(NAME, loop, alone, BLOCKING, CHROMA, goal=Goal(at_least=10)),
    ]
    return Section(name=NAME, title="add: one message, embedding given, durable on return", figures=tuple(figures))


async def _one_after_another(contestants: Mapping[str, Call], effort: Effort, *, after: int) -> dict[str, Times]:
    """Time each in a loop of its own, as a program would call it: in turns, all find the caches full of the others."""
    return {
        name: (await in_turns({name: _later(contestants[name], after)}, effort, warm=WARM))[name]
        for name in (OURS, BLOCKING, CHROMA)
    }


def _later(call: Call, after: int) -> Call:
    return lambda turn: call(after + turn)


async def _ours(bench: Bench, stack: AsyncExitStack, *, held: range) -> dict[str, Call]:
    """Return our contestants: each has a folder to itself, as the others have."""
    texts, first = bench.material.texts, len(held)

    async def filled(name: str) -> AsyncMemory:
        memory = await stack.enter_async_context(opening(bench.folder / NAME / name, bench.material))
        await fill(memory, bench.material, [("ana", held)])
        return memory

    def kept(memory: AsyncMemory, learn: bool, text: Callable[[int], str]) -> Call:
        return lambda turn: memory.add(text(turn), user="ana", session="now", learn=learn)

    await (await filled(BLOCKING)).aclose()
    other = Memory.open(bench.folder / NAME / BLOCKING, embedder=bench.material.embed, index="exact")
    stack.callback(other.close)
    return {
        OURS: kept(await filled(OURS), False, lambda turn: texts[first + 3 * turn]),
        TALK: kept(await filled(TALK), True, lambda turn: texts[first + 3 * turn + 1]),
        LEARNS: kept(await filled(LEARNS), True, statement),
        BLOCKING: blocking(lambda turn: other.add(texts[first + 3 * turn + 2], user="ana", session="now", learn=False)),
    }


def _rivals(bench: Bench, stack: AsyncExitStack, *, held: range) -> dict[str, Call]:
    material, first = bench.material, len(held)
    client = chroma(bench.folder / NAME / "chroma")
    alone, beside = Chroma(client, "alone"), Chroma(client, "beside")
    for collection in (alone, beside):
        collection.load(held, material.vectors[: len(held)], material.texts[: len(held)], [{"user": 0} for _ in held])
    table, row = PlainTable(bench.folder / "table.db"), PlainTable(bench.folder / "row.db")
    for plain in (table, row):
        stack.callback(plain.close)

    def double(turn: int) -> None:
        n = first + turn
        row.add(n, None, material.texts[n])
        beside.add(n, material.vectors[n], material.texts[n], {"user": 0})

    def single(turn: int) -> None:
        n = first + turn
        alone.add(n, material.vectors[n], material.texts[n], {"user": 0})

    return {
        CHROMA: blocking(single),
        DOUBLE: blocking(double),
        TABLE: blocking(lambda turn: table.add(turn, material.vectors[first + turn], material.texts[first + turn])),
    }
