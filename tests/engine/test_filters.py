"""Every filter of recall, on every path, equals a brute-force reading of the specification."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from commonplace.adapters.hashing import HashEmbedder
from commonplace.domain.values import FactKind
from commonplace.domain.where import matches, parse_where
from commonplace.memory import AsyncMemory
from commonplace.recall import plan
from tests.backends import Backend

DAY = timedelta(days=1)
START = datetime(2030, 1, 1, tzinfo=UTC)
PATHS: dict[str, dict[str, Any]] = {
    "exact": {"index": "exact"},
    "chroma": {"index": "chroma"},
    "auto, past the threshold": {"exact_up_to": 3},
    "auto, below the threshold": {"exact_up_to": 10_000},
    "beyond the memory budget": {"index": "exact", "cache_bytes": 0},
    "beyond the memory budget, with chroma": {"index": "chroma", "cache_bytes": 0},
}
SLAB = 4
"""Rows in RAM at once beyond the memory budget: so few that a handful of items takes several slabs."""
WORDS = ("tea", "coffee", "Oslo", "cello", "garden")


@pytest.fixture(scope="module", autouse=True)
def small_slabs() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plan, "LEAST_ROWS", SLAB)
        yield


@dataclass(frozen=True)
class Item:
    """A message, or a fact by hand when it has a kind."""

    words: str
    kind: FactKind | None
    session: str | None
    day: int
    metadata: dict[str, Any]
    valid: tuple[int | None, int | None]


@dataclass(frozen=True)
class Ask:
    kinds: frozenset[str] | None
    session: str | None
    during: tuple[int | None, int | None] | None
    valid_at: int | None
    where: dict[str, Any] | None


def is_span(span: tuple[int | None, int | None]) -> bool:
    start, stop = span
    return start is None or stop is None or start < stop


days = st.integers(0, 9)
spans = st.tuples(st.none() | days, st.none() | days).filter(is_span)
metadata = st.fixed_dictionaries({}, optional={"topic": st.sampled_from(["work", "play"]), "stars": st.integers(1, 3)})
items = st.builds(
    Item,
    words=st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join),
    kind=st.none() | st.sampled_from(["fact", "preference"]),
    session=st.none() | st.sampled_from(["s1", "s2"]),
    day=days,
    metadata=metadata,
    valid=spans,
)
conditions = st.sampled_from(
    [{"topic": "work"}, {"stars": {"$gte": 2}}, {"topic": {"$ne": "work"}}, {"stars": {"$in": [1, 3]}},
     {"$or": [{"topic": "play"}, {"stars": 3}]}, {"$not": {"stars": {"$lt": 3}}}]
)  # fmt: skip
asks = st.builds(
    Ask,
    kinds=st.none() | st.sampled_from([frozenset({"message"}), frozenset({"fact"}), frozenset({"fact", "preference"})]),
    session=st.none() | st.sampled_from(["s1", "s2", "unknown"]),
    during=st.none() | spans,
    valid_at=st.none() | days,
    where=st.none() | conditions,
)


def moment(day: int | None) -> datetime | None:
    return None if day is None else START + day * DAY


def inside(day: int, span: tuple[int | None, int | None]) -> bool:
    return (span[0] is None or span[0] <= day) and (span[1] is None or day < span[1])


def expected(item: Item, ask: Ask, *, now: int) -> bool:
    """Read the specification, one line a filter."""
    said = now if item.kind else item.day  # a fact by hand is said when it is written
    parsed = parse_where(ask.where)
    return (
        (ask.kinds is None or (item.kind or "message") in ask.kinds)
        and (ask.session is None or (item.kind is None and item.session == ask.session))
        and (ask.during is None or inside(said, ask.during))
        and (item.kind is None or inside(now if ask.valid_at is None else ask.valid_at, item.valid))
        and (parsed is None or matches(parsed, item.metadata))
    )


def opened(path: str, place: dict[str, Any] | None = None, **given: Any) -> AsyncMemory:
    """In this process, unless a place is given."""
    settings = {"embedder": HashEmbedder(dimensions=32), "learn": False, **PATHS[path], **given}
    return AsyncMemory.ephemeral(**settings) if place is None else AsyncMemory.open(**{**place, **settings})  # type: ignore[return-value]


@asynccontextmanager
async def filled(
    path: str, given: list[Item], *, user: str, place: dict[str, Any] | None
) -> AsyncIterator[tuple[AsyncMemory, dict[str, Item]]]:
    async with opened(path, place) as memory:
        held: dict[str, Item] = {}
        for number, item in enumerate(given):
            text = f"{item.words} number{number}"
            if item.kind is None:
                added = await memory.add(
                    {"content": text, "at": START + item.day * DAY, "metadata": item.metadata},
                    user=user,
                    session=item.session,
                    learn=False,
                )
                held[added.messages[0]] = item
            else:
                start, stop = map(moment, item.valid)
                fact = await memory.remember(
                    text, user=user, kind=item.kind, valid_from=start, valid_to=stop, metadata=item.metadata
                )
                held[fact.id] = item
        await memory.remember("tea coffee Oslo cello garden", user="somebody else")
        yield memory, held


def now_day() -> int:
    return (datetime.now(UTC) - START).days


async def found(memory: AsyncMemory, ask: Ask, query: str, *, user: str, limit: int) -> list[str]:
    hits = await memory.recall(
        query,
        user=user,
        limit=limit,
        min_relevance=0,
        kinds=ask.kinds,
        session=ask.session,
        during=None if ask.during is None else (moment(ask.during[0]), moment(ask.during[1])),
        valid_at=moment(ask.valid_at),
        where=ask.where,
    )
    return [hit.id for hit in hits]


async def compare(
    path: str, given: list[Item], questions: list[Ask], query: str, *, place: dict[str, Any] | None = None
) -> None:
    user = f"u{uuid4().hex}"  # a ledger that outlives the example holds those of others, too
    async with filled(path, given, user=user, place=place) as (memory, held):
        for ask in questions:
            wanted = {id_ for id_, item in held.items() if expected(item, ask, now=now_day())}
            assert set(await found(memory, ask, query, user=user, limit=100)) == wanted, ask
            assert len(await found(memory, ask, query, user=user, limit=2)) == min(2, len(wanted)), ask


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("query", ["tea in the garden", ""])
@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large], max_examples=40)
@given(given_items=st.lists(items, min_size=1, max_size=12), questions=st.lists(asks, min_size=1, max_size=6))
def test_every_filter_on_every_path_equals_brute_force(
    path: str, query: str, given_items: list[Item], questions: list[Ask]
) -> None:
    asyncio.run(compare(path, given_items, questions, query))


@pytest.mark.backends("ledgers")
@pytest.mark.parametrize("path", ["exact", "beyond the memory budget"])
@settings(suppress_health_check=[*HealthCheck], max_examples=6)
@given(given_items=st.lists(items, min_size=1, max_size=12), questions=st.lists(asks, min_size=1, max_size=6))
def test_every_filter_on_every_ledger_equals_brute_force(
    backend: Backend, tmp_path: Path, path: str, given_items: list[Item], questions: list[Ask]
) -> None:
    place = backend.at(tmp_path)
    asyncio.run(compare(path, given_items, questions, "tea in the garden", place=place))


@pytest.mark.parametrize("path", PATHS)
async def test_a_filter_finds_three_among_a_thousand_whatever_the_limit(path: str) -> None:
    async with opened(path) as memory:
        crowd = [{"content": f"tea number{n}", "metadata": {"n": n}} for n in range(1000)]
        await memory.add(crowd, user="u", learn=False)
        hits = await memory.recall("tea", user="u", limit=3, where={"n": {"$gte": 997}}, min_relevance=0)
        assert sorted(hit.text for hit in hits) == ["tea number997", "tea number998", "tea number999"]


@pytest.mark.backends("ledgers")
@pytest.mark.parametrize("path", PATHS)
async def test_what_was_known_then_is_found_by_its_meaning_on_every_path(
    backend: Backend, tmp_path: Path, path: str
) -> None:
    def embed(texts: list[str]) -> Any:
        """Things to drink are near each other, though they share no word."""
        return [
            [1.0, 0.2] if any(word in text for word in ("tea", "coffee", "beverage")) else [0.0, 1.0] for text in texts
        ]

    async with opened(path, backend.at(tmp_path), embedder=embed) as memory:
        fact = await memory.remember("Prefers tea", user="u")
        for number in range(20):
            await memory.remember(f"Number {number}", user="u")
        then = datetime.now(UTC)
        await memory.revise(fact.id, "Prefers nothing", user="u")
        (first, *_) = await memory.recall("beverage", user="u", as_of=then, min_relevance=0)
        assert first.text == "Prefers tea"
