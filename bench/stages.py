"""Where the time of one recall and one add goes: a stopwatch around the parts, put there for the length of the run.

The product knows nothing of it: each part is wrapped where it is looked up, and unwrapped afterwards.
"""

import functools
import inspect
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from operator import attrgetter
from typing import Any

from bench.figures import Figure, Section
from bench.ours import fill, opening
from bench.scale import WARM, Bench
from bench.timing import Times

NAME = "stages"
MINE = 1_000


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
    Part("embed: cache and thread hop", f"{ENGINE}.embedding", "Embedding.embed", RECALL),
    Part("embed: the function", "commonplace.adapters.function", "_rows", "embed: cache and thread hop"),
    Part("check version: thread hop", f"{SQLITE}.ledger", "SqliteLedger.versions", RECALL),
    Part("check version: SQL", f"{SQLITE}.feed", "versions", "check version: thread hop"),
    Part("filters", f"{FINDING}.corpus", "Corpus.mask", RECALL),
    Part("search: candidates, order", f"{ENGINE}.recalling", "search", RECALL),
    Part("search: question", f"{FINDING}.search", "understand", "search: candidates, order"),
    Part("search: words", f"{FINDING}.lexical", "Lexical.score", "search: candidates, order"),
    Part("search: vectors", f"{FINDING}.dense", "Dense.score", "search: candidates, order"),
    Part("search: neighbours' vectors", f"{FINDING}.search", "smoothed", "search: candidates, order"),
    Part("search: fusion", f"{FINDING}.search", "fused_parts", "search: candidates, order"),
    Part("search: hits with their reasons", f"{FINDING}.search", "_hit", "search: candidates, order"),
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
    Part("embed: cache and thread hop", f"{ENGINE}.embedding", "Embedding.embed", ADD),
    Part("embed: the function", "commonplace.adapters.function", "_rows", "embed: cache and thread hop"),
    Part("write: thread hop", f"{SQLITE}.ledger", "SqliteLedger.write", ADD),
    Part("write: begin, commit, disk", f"{SQLITE}.lanes", "_transact", "write: thread hop"),
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
    material, mine = bench.material, range(min(MINE, bench.scale.items))
    bench.say(f"stages: {bench.scale.items:,} items")
    async with opening(bench.folder / NAME, material) as memory:
        others = range(len(mine), bench.scale.items)
        people = [(f"{n}", others[n :: max(1, len(others) // len(mine))]) for n in range(len(others) // len(mine))]
        await fill(memory, material, [("ana", mine), *people])
        questions, texts = iter(bench.asked(mine)), iter(material.texts[bench.scale.items :])
        recalls = await _watched(bench, OF_RECALL, lambda: memory.recall(next(questions).text, user="ana"), RECALL)
        adds = await _watched(
            bench, OF_ADD, lambda: memory.add(next(texts), user="ana", session="now", learn=False), ADD
        )
    return Section(
        name=NAME,
        title=f"where the time goes: one user's {len(mine):,} of {bench.scale.items:,} items",
        figures=(*recalls, *adds),
        notes=("A stopwatch costs a little, too; a part within another one is not counted twice.",),
    )


async def _watched(bench: Bench, parts: Sequence[Part], call: Callable[[], Any], whole: str) -> list[Figure]:
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
    total = Times.of([sum(spent.values()) for spent in kept])
    rest = Part("the rest: parsing, event loop", "", whole, "")
    figures = [
        _figure(whole, part.label if part is not rest else whole, kept, shown=part.label) for part in (*parts, rest)
    ]
    return [*figures, Figure(section=NAME, case=whole, who="all of it", value=total.p50, p10=total.p10, p95=total.p95)]


def own_times(spent: dict[str, float], parts: Sequence[Part]) -> dict[str, float]:
    """Take from each part what the parts within it took."""
    own = dict(spent)
    for part in parts:
        if part.label in spent and part.within in own:
            own[part.within] -= spent[part.label]
    return own


def _figure(case: str, label: str, kept: Sequence[dict[str, float]], *, shown: str) -> Figure:
    times = Times.of([spent.get(label, 0.0) for spent in kept])
    return Figure(section=NAME, case=case, who=shown, value=times.p50, p10=times.p10, p95=times.p95)
