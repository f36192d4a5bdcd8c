"""Where the time of one recall and one add goes: a stopwatch around the parts, put there for the length of the run.

The product knows nothing of it: each part is wrapped where it is looked up, and unwrapped afterwards. Each question was
asked before, so its vector is at hand; messages have the vectors of their tokens, too.
"""

import functools
import inspect
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from operator import attrgetter
from typing import Any

from bench.figures import Figure, Goal, Section
from bench.material import Reader
from bench.ours import fill, opening
from bench.scale import WARM, Bench
from bench.timing import Times
from commonplace import AsyncMemory
from commonplace.recall.beside import BESIDE

NAME = "stages"
GOALS = {1_000: Goal(at_most=4), 20_000: Goal(at_most=10)}
"""Milliseconds of a whole recall at the median, by how many messages the user has."""


@dataclass(frozen=True, slots=True)
class Part:
    """A function, by module and name. `within` is the label of the part that calls it."""

    label: str
    module: str
    name: str
    within: str


RECALL, ADD = "recall", "add"
ENGINE, SQLITE, FINDING = "commonplace.engine", "commonplace.adapters.sqlite", "commonplace.recall"

OF_RECALL = (
    Part("embed: from the cache", f"{ENGINE}.embedding", "Embedding.embed", RECALL),
    Part("check version: thread hop", f"{SQLITE}.ledger", "SqliteLedger.versions", RECALL),
    Part("check version: SQL", f"{SQLITE}.feed", "versions", "check version: thread hop"),
    Part("filters", f"{FINDING}.corpus", "Corpus.mask", RECALL),
    Part("search: candidates, order", f"{ENGINE}.recalling", "rank", RECALL),
    Part("search: question", f"{FINDING}.search", "understand", "search: candidates, order"),
    Part("search: words", f"{FINDING}.lexical", "Lexical.score", "search: candidates, order"),
    Part("search: vectors", f"{FINDING}.dense", "Dense.score", "search: candidates, order"),
    Part("search: neighbours' vectors", f"{FINDING}.search", "smoothed", "search: candidates, order"),
    Part("search: fusion", f"{FINDING}.search", "fused_parts", "search: candidates, order"),
    Part("search: signs", f"{FINDING}.search", "signs", "search: fusion"),
    Part("search: tokens", f"{FINDING}.search", "interact", "search: fusion"),
    Part("final order", f"{ENGINE}.recalling", "in_order", RECALL),
    Part("hydrate: values", f"{ENGINE}.recalling", "hydrate", RECALL),
    Part("hydrate: thread hop", f"{SQLITE}.ledger", "SqliteLedger.shown", "hydrate: values"),
    Part("hydrate: SQL of messages", f"{SQLITE}.messages", "by_id", "hydrate: thread hop"),
    Part("hydrate: SQL of facts taught", f"{SQLITE}.facts", "taught", "hydrate: thread hop"),
    Part("hydrate: SQL of facts", f"{SQLITE}.facts", "versions_by_id", "hydrate: thread hop"),
)
OF_ADD = (
    Part("parse", f"{ENGINE}.engine", "parse_messages", ADD),
    Part("analyse: passages, terms, features", f"{ENGINE}.indexing", "Indexing.sketch_message", ADD),
    Part("embed: tokens, too", f"{ENGINE}.embedding", "Embedding.embed", ADD),
    Part("write: around it", f"{SQLITE}.ledger", "SqliteLedger.write", ADD),
    Part("write: begin, commit, disk", f"{SQLITE}.jotting", "Jotter.run", "write: around it"),
    Part("write: SQL", f"{SQLITE}.writing", "write", "write: begin, commit, disk"),
)


@dataclass(slots=True)
class Stopwatch:
    """Seconds by label, of the call that is going on."""

    spent: dict[str, float] = field(default_factory=dict)

    def around(self, label: str, work: Callable[..., Any]) -> Callable[..., Any]:
        if inspect.iscoroutinefunction(work):

            @functools.wraps(work)
            async def waited(*args: Any, **kwargs: Any) -> Any:
                start = time.perf_counter()
                try:
                    return await work(*args, **kwargs)
                finally:
                    self._add(label, start)

            return waited

        @functools.wraps(work)
        def ran(*args: Any, **kwargs: Any) -> Any:
            start = time.perf_counter()
            try:
                return work(*args, **kwargs)
            finally:
                self._add(label, start)

        return ran

    def _add(self, label: str, start: float) -> None:
        if threading.current_thread().name == BESIDE:
            label += ", meanwhile on another thread"
        self.spent[label] = self.spent.get(label, 0.0) + time.perf_counter() - start


@contextmanager
def watched(watch: Stopwatch, parts: Sequence[Part]) -> Iterator[None]:
    """Wrap the parts, and put back what was there."""
    places = []
    for part in parts:
        holder, _, name = part.name.rpartition(".")
        module = import_module(part.module)
        owner = attrgetter(holder)(module) if holder else module
        places.append((owner, name, getattr(owner, name)))
        setattr(owner, name, watch.around(part.label, getattr(owner, name)))
    try:
        yield
    finally:
        for owner, name, work in reversed(places):
            setattr(owner, name, work)


async def run(bench: Bench) -> Section:
    figures: list[Figure] = []
    for size in bench.scale.stages:
        bench.say(f"stages: {size:,} items")
        async with opening(bench.folder / f"{NAME}-{size}", bench.material, embedder=Reader(bench.material)) as memory:
            await fill(memory, bench.material, [("ana", range(size))])
            figures += await _recalls(bench, memory, size)
            if size == bench.scale.stages[0]:
                figures += await _adds(bench, memory)
    return Section(
        name=NAME,
        title="where the time goes: one user's messages, with their tokens",
        figures=tuple(figures),
        notes=("A stopwatch costs a little, too; a part within another one is not counted twice.",),
    )


async def _recalls(bench: Bench, memory: AsyncMemory, size: int) -> list[Figure]:
    texts = [question.text for question in bench.asked(range(size))]
    for text in texts:
        await memory.recall(text, user="ana")
    plain, watched_ = iter(texts), iter(texts)
    whole = f"{RECALL}, {size:,} messages"
    spent, worked = await _plain(lambda: memory.recall(next(plain), user="ana"), len(texts))
    return [
        *await _watched(bench, OF_RECALL, lambda: memory.recall(next(watched_), user="ana"), RECALL, whole),
        _of(whole, "all of it", spent, goal=GOALS.get(size)),
        _of(whole, "all of it, processor time", worked),
    ]


async def _adds(bench: Bench, memory: AsyncMemory) -> list[Figure]:
    texts = iter(bench.material.texts[max(bench.scale.stages) :])

    def add() -> Any:
        return memory.add(next(texts), user="ana", session="now", learn=False)

    spent, worked = await _plain(add, bench.scale.effort.rounds)
    return [
        *await _watched(bench, OF_ADD, add, ADD, ADD),
        _of(ADD, "all of it", spent),
        _of(ADD, "all of it, processor time", worked),
    ]


async def _plain(call: Callable[[], Any], rounds: int) -> tuple[list[float], list[float]]:
    """Return the seconds that passed, and those that all threads together worked, without a stopwatch inside."""
    spent, worked = list[float](), list[float]()
    for _ in range(rounds):
        start, busy = time.perf_counter(), time.process_time()
        await call()
        spent.append(time.perf_counter() - start)
        worked.append(time.process_time() - busy)
    return spent, worked


async def _watched(bench: Bench, parts: Sequence[Part], call: Callable[[], Any], whole: str, case: str) -> list[Figure]:
    for _ in range(WARM):
        await call()
    kept: list[dict[str, float]] = []
    watch = Stopwatch()
    with watched(watch, parts):
        for _ in range(bench.scale.effort.rounds):
            watch.spent = {}
            start = time.perf_counter()
            await call()
            kept.append(own_times({whole: time.perf_counter() - start} | watch.spent, parts))
    labels = {part.label: part.label for part in parts} | {whole: "the rest: parsing, event loop"}
    labels |= {label: label for spent in kept for label in spent if label not in labels}
    return [_of(case, shown, [spent.get(label, 0.0) for spent in kept]) for label, shown in labels.items()]


def own_times(spent: dict[str, float], parts: Sequence[Part]) -> dict[str, float]:
    """Take from each part what the parts within it took."""
    own = dict(spent)
    for part in parts:
        if part.label in spent and part.within in own:
            own[part.within] -= spent[part.label]
    return own


def _of(case: str, who: str, seconds: Sequence[float], *, goal: Goal | None = None) -> Figure:
    times = Times.of(seconds)
    return Figure(section=NAME, case=case, who=who, value=times.p50, p10=times.p10, p95=times.p95, goal=goal)
