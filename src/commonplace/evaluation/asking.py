"""Fill a memory with conversations, and ask it every question: through the calls, and with the defaults, that all use.

Nothing that weights change is stored, so a memory is filled once and asked with one part after the other left out.
"""

import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path

from commonplace.domain.values import Recalled
from commonplace.evaluation.data import Conversation, Turn, borrowed
from commonplace.evaluation.embedders import Absent, Plain
from commonplace.evaluation.metrics import Outcome, Result
from commonplace.evaluation.parts import NOTHING, Without
from commonplace.memory import AsyncMemory
from commonplace.ports.embedder import Embedder
from commonplace.wiring import Embed, Location, opened

LIMIT, DEEP = 10, 20
BATCH = 256
Progress = Callable[[str, int, int | None], None]
APART = {
    "chroma_url": None,
    "chroma_path": None,
    "index_beyond": "chroma",
    "redis_url": None,
    "retention_days": None,
    "agent_model": None,
}
"""Settings of the operator's own memory that must not reach the one that is filled here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """A folder for the memory, the embedder that it is filled with, and settings by name."""

    folder: Path
    embedder: Embedder
    settings: dict[str, object] = field(default_factory=dict)
    report: Progress = lambda what, done, total: None

    @asynccontextmanager
    async def memory(self, without: Without = NOTHING, *, embed: Embed | None = None) -> AsyncIterator[AsyncMemory]:
        async with AsyncExitStack() as stack:
            parts = await stack.enter_async_context(
                opened(Location(home=self.folder), {"index": "auto", **self.settings, **APART}, embed or self.embedder)
            )
            memory = AsyncMemory(replace(parts, weights=without.weights), stack.pop_all())
            async with memory:
                await memory.start()
                yield memory


@dataclass(slots=True)
class Run:
    """What came back for every question."""

    outcomes: list[Outcome] = field(default_factory=list)
    answered: list[float] = field(default_factory=list)
    """The relevance of the best result, of each question that has an answer …"""
    foreign: list[float] = field(default_factory=list)
    """… and of each that has none."""
    silent: list[bool] = field(default_factory=list)
    """Whether nothing came back for a question that has an answer …"""
    refused: list[bool] = field(default_factory=list)
    """… and for one that has none."""
    milliseconds: list[float] = field(default_factory=list)


async def fill(bench: Bench, conversations: Sequence[Conversation], *, learn: bool = True) -> None:
    """Add every conversation as one user's, session by session, with the original dates."""
    total, done = sum(len(each.turns) for each in conversations), 0
    async with bench.memory() as memory:
        for conversation in conversations:
            for session, turns in groupby(conversation.turns, key=lambda turn: turn.session):
                for batch in _batches(list(turns)):
                    await memory.add(
                        [_message(turn) for turn in batch], user=conversation.name, session=session, learn=learn
                    )
                    done += len(batch)
                    bench.report("Adding", done, total)


def _batches(turns: Sequence[Turn]) -> Iterable[Sequence[Turn]]:
    return (turns[start : start + BATCH] for start in range(0, len(turns), BATCH))


def _message(turn: Turn) -> dict[str, object]:
    return {
        "id": turn.id,
        "role": turn.role,
        "content": turn.text,
        "at": turn.at,
        **({"name": turn.name} if turn.name else {}),
        **({"metadata": {"caption": turn.caption}} if turn.caption else {}),
    }


async def ask(
    bench: Bench,
    conversations: Sequence[Conversation],
    *,
    without: Without = NOTHING,
    questions: Plain,
    budgets: Sequence[int] = (),
) -> Run:
    """Ask every question of its own conversation, and those of the next one under other names."""
    run = Run()
    total, done = sum(len(each.questions) for each in conversations), 0
    async with bench.memory(without, embed=_embedder(questions, without)) as memory:
        for number, conversation in enumerate(conversations):
            sessions = {turn.id: turn.session for turn in conversation.turns}
            asker = _Asker(memory, conversation.name, sessions, None if without.threshold else 0.0)
            for question in conversation.questions:
                if question.gold:
                    await asker.own(question.text, question.gold, question.category, run=run, budgets=budgets)
                else:
                    await asker.foreign(question.text, run)
                done += 1
                bench.report("Asking", done, total)
            neighbour = conversations[(number + 1) % len(conversations)]
            if neighbour is not conversation:
                for text in borrowed(neighbour, conversation):
                    await asker.foreign(text, run)
    return run


def _embedder(questions: Plain, without: Without) -> Embedder:
    if not without.model:
        return Absent(questions.identity, questions.dimensions)
    return questions if without.tokens else Plain(questions)


@dataclass(frozen=True, slots=True)
class _Asker:
    memory: AsyncMemory
    user: str
    sessions: Mapping[str, str]
    least: float | None

    async def own(self, text: str, gold: frozenset[str], category: str, *, run: Run, budgets: Sequence[int]) -> None:
        deeper = await self._recall(text, limit=DEEP)  # first, so that the timed call finds the question embedded
        start = time.perf_counter()
        found = await self._recall(text, limit=LIMIT)
        run.milliseconds.append(1000 * (time.perf_counter() - start))
        run.outcomes.append(
            Outcome(
                gold=gold,
                ranked=shown(found),
                deeper=shown(deeper),
                category=category,
                sessions=self.sessions,
                within={budget: await self._within(text, budget) for budget in budgets},
            )
        )
        run.answered.append(await self._best(text))
        run.silent.append(not found)

    async def foreign(self, text: str, run: Run) -> None:
        run.foreign.append(await self._best(text))
        run.refused.append(not await self._recall(text, limit=LIMIT))

    async def _recall(self, text: str, *, limit: int, least: float | None = None) -> Sequence[Recalled]:
        least = self.least if least is None else least
        return await self.memory.recall(text, user=self.user, limit=limit, min_relevance=least)

    async def _best(self, text: str) -> float:
        found = await self._recall(text, limit=LIMIT, least=0.0)
        return max((item.relevance for item in found), default=0.0)

    async def _within(self, text: str, budget: int) -> frozenset[str]:
        context = await self.memory.context(text, user=self.user, budget=budget)
        return frozenset(source for result in shown(context.items) for source in result)


def shown(found: Sequence[Recalled]) -> tuple[Result, ...]:
    """Return the messages that each result stands for."""
    return tuple((item.id,) if item.kind == "message" else tuple(item.sources) for item in found)
