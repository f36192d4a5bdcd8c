"""Tidying up, on a whole memory: what it does, that twice is the same as once, and that it may be done at any time."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from commonplace.adapters.hashing import HashEmbedder
from commonplace.domain.errors import InvalidInput
from commonplace.domain.scope import Scope
from commonplace.engine.engine import Engine
from commonplace.memory import AsyncMemory
from commonplace.wiring import Location, opened

U = Scope("default", "u")

pytestmark = pytest.mark.backends("ledgers")


async def in_days(memory: AsyncMemory, days: float) -> Engine:
    """Return the same memory as it will be then."""
    parts = memory._parts
    return Engine(replace(parts, now=lambda: datetime.now(UTC) + timedelta(days=days)))


async def untidy(memory: AsyncMemory) -> None:
    await memory.remember("Allergic to peanuts", user="u")
    await memory.remember("allergic to  peanuts.", user="u", importance=0.5)
    await memory.remember("Allergic to cats", user="u")
    for n in range(3):
        await memory.add("I live in Oslo", user="u", session=f"s{n}")
    for n in range(8):
        await memory.add(f"We walked to the harbour for the {n}th time", user="u", session="walks")
    await memory.add("This is gone tomorrow", user="u", expires_at=datetime.now(UTC) + timedelta(days=1))


async def test_it_merges_expires_weighs_and_sums_up_once(memory: AsyncMemory) -> None:
    await untidy(memory)
    (home,) = [fact for fact in await memory.facts(user="u") if "Oslo" in fact.text]
    then = await in_days(memory, 3)
    planned = await then.consolidate(user="u", dry_run=True)
    assert str(planned) == "would be: 1 expired, 1 merged, 1 weighed anew, 1 summarised"
    assert len([fact for fact in await then.facts(user="u") if "peanuts" in fact.text.casefold()]) == 2
    done = await then.consolidate(user="u")
    assert str(done) == "1 expired, 1 merged, 1 weighed anew, 1 summarised"
    assert str(await then.consolidate(user="u")) == "nothing to do"
    assert not (await then.consolidate(user="u", dry_run=True)).changed
    facts = list(await then.facts(user="u"))
    assert sorted(fact.text for fact in facts if fact.text.startswith("Allergic")) == [
        "Allergic to cats",
        "Allergic to peanuts",
    ]
    (after,) = [fact for fact in facts if fact.id == home.id]
    assert after.importance > home.importance
    assert not [one for one in await then.messages(user="u", limit=99) if "tomorrow" in one.text]
    (summary,) = await memory._parts.ledger.summaries(U)
    assert (summary.session, len(summary.messages)) == ("walks", 8)
    assert (await then.doctor()).healthy


async def test_a_merged_fact_keeps_every_source_and_its_history(memory: AsyncMemory) -> None:
    first = await memory.remember("Allergic to peanuts", user="u", confidence=0.6)
    second = await memory.remember("allergic to peanuts", user="u", confidence=0.9)
    await memory.consolidate(user="u")
    (kept,) = await memory.facts(user="u")
    assert (kept.id, kept.confidence) == (first.id, 0.9)
    gone = (await memory.history(second.id, user="u"))[-1]
    assert gone.changes[-1].reason == "the same as another fact"
    assert gone.fact.replaced_by == first.id


async def test_what_differs_in_a_sign_a_time_or_metadata_is_not_the_same(memory: AsyncMemory) -> None:
    await memory.remember("User uses C", user="u")
    await memory.remember("User uses C++", user="u")
    await memory.remember("user uses c", user="u", metadata={"since": "school"})
    await memory.remember("user uses c", user="u", valid_from="2020-01-01T00:00:00+00:00")
    assert (await memory.consolidate(user="u")).merged == 0


async def test_a_session_that_goes_on_is_left_alone(memory: AsyncMemory) -> None:
    for n in range(8):
        await memory.add(f"We walked to the harbour for the {n}th time", user="u", session="walks")
    assert (await memory.consolidate(user="u")).summarised == 0
    await memory.session("walks", user="u").end()
    assert (await memory.consolidate(user="u")).summarised == 1


async def test_everyone_is_every_user_and_nobody_else(memory: AsyncMemory) -> None:
    for user in ("ana", "ben", None):
        await memory.remember("Likes tea", user=user)
        await memory.remember("likes tea", user=user)
    assert (await memory.consolidate(user="ana")).merged == 1
    rest = await memory.consolidate(everyone=True)
    assert (rest.users, rest.merged) == (3, 2)
    with pytest.raises(InvalidInput, match="expected one of them"):
        await memory.consolidate(user="ana", everyone=True)


async def test_it_may_be_done_while_the_memory_is_in_use(memory: AsyncMemory) -> None:
    async def write() -> None:
        for n in range(10):
            await memory.remember(f"Likes tea number {n}", user="u")
            await memory.add(f"I like the harbour number {n}", user="u", session="s")

    await untidy(memory)
    await asyncio.gather(write(), *(memory.consolidate(user="u") for _ in range(3)))
    assert (await memory.consolidate(user="u")).merged == 0
    facts = [fact.text for fact in await memory.facts(user="u")]
    assert {f"Likes tea number {n}" for n in range(10)} <= set(facts)
    assert facts.count("Allergic to peanuts") == 1
    assert (await memory.doctor()).healthy


async def test_a_user_who_holds_nothing_has_nothing_to_tidy_up() -> None:
    embedder = HashEmbedder(dimensions=16)
    async with opened(Location.nowhere(), {"index": "exact"}, embedder) as parts, Engine(parts) as memory:
        assert str(await memory.consolidate(user="nobody")) == "nothing to do"
