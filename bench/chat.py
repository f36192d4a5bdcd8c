"""What the memory adds to the time to the first word of a chat: the same agent and model, with memory and without.

The model answers at once, so that what is left is ours. The question is embedded by the local model, if it is there;
the vectors searched are made up. The message and the reply are written while the model speaks: that is not waited for.
"""

import gc
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack

import numpy as np
from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, PartDeltaEvent, PartStartEvent
from pydantic_ai.models.function import AgentInfo, FunctionModel

from bench.figures import Figure, Goal, Section, timed
from bench.material import Material
from bench.ours import fill, opening
from bench.scale import WARM, Bench
from bench.timing import Times
from commonplace.agents import Assistant, Words
from commonplace.ports.embedder import Embedder, Vectors
from commonplace.prompts import Prompt
from commonplace.settings import Settings
from commonplace.wiring import describe_model, open_embedder

NAME = "chat"
ITEMS = 10_000
GOAL = Goal(at_most=25)
WITH, WITHOUT = "with memory", "without"


class Weighted:
    """Made-up vectors at the price of real ones: a text that comes alone goes through the local model first."""

    def __init__(self, material: Material, local: Embedder | None, dimensions: int) -> None:
        self._material, self._local = material, local
        self.identity, self.dimensions = "bench", dimensions

    async def embed(self, texts: Sequence[str]) -> Vectors:
        if self._local is not None and len(texts) == 1:
            await self._local.embed(texts)
        return np.asarray(self._material.embed(list(texts)), np.float32)


async def _at_once(messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[str]:
    yield "Well, "
    yield "there it is."


async def run(bench: Bench) -> Section:
    items = min(ITEMS, max(bench.scale.totals))
    model = FunctionModel(stream_function=_at_once)
    bare = Agent(model, instructions=Prompt.load("chat").text)
    async with AsyncExitStack() as stack:
        local = await _local(bench, stack)
        embedder = Weighted(bench.material, local, bench.scale.dimensions)
        memory = await stack.enter_async_context(
            opening(bench.folder / NAME, bench.material, index="auto", embedder=embedder)
        )
        bench.say(f"chat: filling {items:,} memories")
        await fill(memory, bench.material, [("u", range(items))])
        assistant = Assistant(memory, model)
        bench.say("chat: talking")
        times = await _talk(bench, assistant, bare, range(items))
    case = f"time to the first word, {items:,} memories"
    added = times[WITH].p50 - times[WITHOUT].p50
    figure = Figure(
        section=NAME, case=case, who="added by the memory", value=added, goal=GOAL if items == ITEMS else None
    )
    note = "The question's embedding is included." if local else "No local model here: embedding is not included."
    return Section(
        name=NAME,
        title="chat: what waits for the memory",
        figures=(*timed(NAME, case, times), figure),
        notes=(note,),
    )


async def _local(bench: Bench, stack: AsyncExitStack) -> Embedder | None:
    settings = Settings.from_sources()
    if not bench.scale.model or not describe_model(settings).ready:
        return None
    local = await stack.enter_async_context(open_embedder(settings, None))
    await local.embed(["warm up"])
    return local


async def _talk(bench: Bench, assistant: Assistant, bare: Agent[None, str], items: range) -> dict[str, Times]:
    spent: dict[str, list[float]] = {WITH: [], WITHOUT: []}
    until = time.perf_counter() + 5 * bench.scale.effort.seconds
    for turn, question in enumerate(bench.asked(items)):
        gc.collect()
        remembered = await _first_of_ours(assistant, question.text, session=f"bench {turn}")
        alone = await _first_of_bare(bare, question.text)
        if turn >= WARM:
            spent[WITH].append(remembered)
            spent[WITHOUT].append(alone)
        if time.perf_counter() > until and turn > WARM:
            break
    return {who: Times.of(seconds) for who, seconds in spent.items()}


async def _first_of_ours(assistant: Assistant, said: str, *, session: str) -> float:
    start, first = time.perf_counter(), 0.0
    async for event in assistant.stream(said, user="u", session=session):
        if isinstance(event, Words) and not first:
            first = time.perf_counter() - start
    return first


async def _first_of_bare(agent: Agent[None, str], said: str) -> float:
    start, first = time.perf_counter(), 0.0
    async with agent.run_stream_events(said) as events:
        async for event in events:
            if isinstance(event, PartStartEvent | PartDeltaEvent) and not first:
                first = time.perf_counter() - start
    return first
