"""What the vectors of tokens add to the cost of `add`: the same messages with and without them, in turns."""

from contextlib import AsyncExitStack

from bench.figures import Figure, Goal, Section, slower, timed
from bench.material import Reader
from bench.ours import fill, opening
from bench.scale import WARM, Bench
from bench.timing import Call, in_turns
from commonplace import AsyncMemory
from commonplace.evaluation.embedders import Plain
from commonplace.settings import Settings
from commonplace.wiring import Embed, describe_model, open_embedder

NAME = "tokens"
HELD = 1_000
GIVEN, LOCAL = "one message, embedding given", "one message, with the local model"
WITH, WITHOUT = "with its tokens", "without"
AT_MOST = Goal(at_most=1.3)


async def run(bench: Bench) -> Section:
    material = bench.material
    figures = await _compared(bench, GIVEN, Reader(material), material.embed)
    settings = Settings.from_sources()
    if bench.scale.model and describe_model(settings).ready:
        async with open_embedder(settings, None) as embedder:
            figures += await _compared(bench, LOCAL, embedder, Plain(embedder))
    return Section(name=NAME, title="add: the cost of token vectors", figures=tuple(figures))


async def _compared(bench: Bench, case: str, showing: Embed, plain: Embed) -> list[Figure]:
    bench.say(f"tokens: {case}")
    held = range(min(HELD, bench.scale.items) if case == GIVEN else WARM)
    async with AsyncExitStack() as stack:
        contestants: dict[str, Call] = {}
        for who, embedder in ((WITH, showing), (WITHOUT, plain)):
            folder = bench.folder / f"{NAME}-{case[-5:]}-{who[:7]}"
            memory = await stack.enter_async_context(opening(folder, bench.material, embedder=embedder))
            await fill(memory, bench.material, [("ana", held)])
            contestants[who] = _adding(memory, bench.material.texts[len(held) :])
        times = await in_turns(contestants, bench.scale.effort, warm=WARM)
    return [*timed(NAME, case, times), slower(NAME, case, times, WITH, WITHOUT, goal=AT_MOST)]


def _adding(memory: AsyncMemory, texts: list[str]) -> Call:
    return lambda turn: memory.add(texts[turn], user="ana", session="now", learn=False)
