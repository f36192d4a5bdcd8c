"""A user whose rows do not fit the memory budget: found by the full text or in slabs, and never read as a whole."""

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from commonplace.adapters.hashing import HashEmbedder
from commonplace.adapters.inmemory import InMemoryLedger
from commonplace.adapters.sqlite import SqliteLedger
from commonplace.domain.scope import Scope
from commonplace.engine.engine import Engine
from commonplace.engine.parts import Options, Parts
from commonplace.memory import AsyncMemory
from commonplace.ports.full_text import FullText
from commonplace.ports.ledger import Feed, Ledger
from commonplace.recall import plan
from tests.backends import Backend

DIMENSIONS = 32
ROWS = 1_000
BUDGET = 960 * plan.row_bytes(DIMENSIONS)
TOPICS = ("tea", "the cello", "a garden in Oslo", "chess", "the harbour")

pytestmark = pytest.mark.backends("ledgers")


def said(number: int) -> dict[str, object]:
    return {"content": f"{TOPICS[number % len(TOPICS)]} number{number}", "metadata": {"n": number}}


async def fill(memory: Engine) -> None:
    await memory.add([said(n) for n in range(ROWS)], user="u", session="s", learn=False)
    await memory.remember("Ana plays the cello", user="u")


def engine(ledger: Ledger, *, cache_bytes: int = BUDGET) -> Engine:
    return Engine(
        Parts(
            ledger=ledger,
            embedder=HashEmbedder(dimensions=DIMENSIONS),
            index=None,
            extractor=None,
            options=Options(index="exact", cache_bytes=cache_bytes, summarise_after=0),
            full_text=ledger if isinstance(ledger, FullText) else None,
        )
    )


@pytest.fixture(autouse=True)
def few_rows_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "LEAST_ROWS", 400)


@pytest.fixture
async def ledger(backend: Backend, tmp_path: Path) -> AsyncIterator[Ledger]:
    async with backend.open_ledger(tmp_path / "memory") as ledger:
        yield ledger


@pytest.fixture
def read(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many rows the ledger was asked for at once. It refuses to give all of them."""
    counts: list[int] = []
    feed = ledger.feed

    async def some(scope: Scope, *, since: int = 0, vectors: bool = True) -> Feed:
        assert since > 0, "the whole partition was read"
        return await feed(scope, since=since, vectors=vectors)

    def noting(reading: Callable[..., Awaitable[Feed]]) -> Callable[..., Awaitable[Feed]]:
        async def noted(*given: Any, **named: Any) -> Feed:
            found = await reading(*given, **named)
            counts.append(len(found.messages) + len(found.facts))
            return found

        return noted

    monkeypatch.setattr(ledger, "feed", some)
    monkeypatch.setattr(ledger, "slab", noting(ledger.slab))
    monkeypatch.setattr(ledger, "rows", noting(ledger.rows))
    return counts


@pytest.mark.usefixtures("read")
async def test_the_full_text_gives_the_candidates_and_is_built_once(ledger: Ledger) -> None:
    memory = engine(ledger)
    await fill(memory)
    first = await memory.recall("tea number235", user="u", limit=3, explain=True)
    assert first[0].text == "tea number235"
    assert first[0].why is not None and first[0].why.path == "full text"
    assert ["built" in note for note in first.notes] == [True]
    await memory.add("tea number9999", user="u", learn=False)
    second = await memory.recall("tea number9999", user="u", limit=3)
    assert (second[0].text, second.notes) == ("tea number9999", ())


@pytest.mark.usefixtures("read")
async def test_the_answers_are_those_of_a_memory_with_room(ledger: Ledger) -> None:
    small = engine(ledger)
    await fill(small)
    async with SqliteLedger(None) as other:
        roomy = engine(other, cache_bytes=1 << 30)
        await fill(roomy)
        for query in ("number77", "a garden number907", "Who plays the cello?"):
            for where in (None, {"n": {"$lt": 910}}):
                there = [hit.text for hit in await small.recall(query, user="u", limit=1, where=where)]
                assert there == [hit.text for hit in await roomy.recall(query, user="u", limit=1, where=where)]
        assert 0 < (await roomy.stats()).cache["bytes"] <= (ROWS + 1) * plan.row_bytes(DIMENSIONS)


@pytest.mark.usefixtures("read")
@pytest.mark.parametrize("where", [None, {"n": {"$lt": 910}}])
async def test_chance_is_that_of_all_rows_and_not_of_the_few_that_were_looked_at(
    ledger: Ledger, where: dict[str, Any] | None
) -> None:
    memory = engine(ledger)
    await fill(memory)
    (found,) = await memory.recall("chess number328", user="u", limit=1, where=where, explain=True)
    assert found.why is not None and found.why.evidence["rows"] == ROWS + 1


async def test_no_more_rows_than_the_budget_holds_are_ever_read_at_once(ledger: Ledger, read: list[int]) -> None:
    memory = engine(ledger)
    await fill(memory)
    await memory.recall("tea in the garden", user="u")
    await memory.recall("tea in the garden", user="u", limit=30, kinds="message")
    await memory.recall("", user="u")
    assert [fact.text for fact in (await memory.facts(user="u")).items] == ["Ana plays the cello"]
    stats = await memory.stats()
    assert (stats.cache["bytes"], [part.answered_by for part in stats.partitions]) == (0, ["full text"])
    assert 0 < max(read) * plan.row_bytes(DIMENSIONS) <= BUDGET


@pytest.mark.usefixtures("read")
async def test_a_check_up_and_a_reindex_read_slabs(ledger: Ledger) -> None:
    memory = engine(ledger)
    await fill(memory)
    assert (await memory.doctor()).findings == ()
    assert (await memory.reindex(embed=True)).embedded == ROWS + 1


async def test_without_a_full_text_every_row_is_looked_at() -> None:
    memory = engine(InMemoryLedger())
    await fill(memory)
    (found,) = await memory.recall("tea number235", user="u", limit=1, explain=True)
    assert found.text == "tea number235"
    assert found.why is not None and found.why.path == "exact, in slabs"


async def test_a_user_who_outgrows_the_budget_is_let_go(backend: Backend, tmp_path: Path) -> None:
    async with backend.open_ledger(tmp_path) as ledger:
        memory = engine(ledger)
        await memory.add("tea for two", user="u", learn=False)
        await memory.recall("tea", user="u")
        assert (await memory.stats()).cache["users"] == 1
        await fill(memory)
        await memory.recall("tea", user="u")
        assert (await memory.stats()).cache == {"users": 0, "bytes": 0, "hits": 0}


async def test_what_no_longer_holds_does_not_take_the_places_of_what_does(
    backend: Backend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plan, "LEAST_ROWS", 4)
    embedder = HashEmbedder(dimensions=DIMENSIONS)
    async with AsyncMemory.open(**backend.at(tmp_path), embedder=embedder, cache_bytes=0, learn=False) as memory:
        for number in range(12):
            fact = await memory.remember(f"tea {number}", user="u")
            await memory.retract(fact.id, user="u")
        await memory.add("We had tea on a rainy afternoon with many friends", user="u", learn=False)
        assert [hit.kind for hit in await memory.recall("tea", user="u")] == ["message"]


@pytest.mark.parametrize(
    ("filtered", "full_text", "wanted"),
    [(False, True, "full text"), (True, True, "slabs"), (False, False, "slabs"), (True, False, "slabs")],
)
def test_a_filter_is_never_left_to_candidates(filtered: bool, full_text: bool, wanted: str) -> None:
    assert plan.source(filtered=filtered, full_text=full_text) == wanted


def test_some_rows_may_be_in_memory_however_small_the_budget_is() -> None:
    assert plan.rows_within(0, bytes_each=2_000) == plan.LEAST_ROWS
    assert plan.rows_within(20_000_000, bytes_each=2_000) == 10_000
