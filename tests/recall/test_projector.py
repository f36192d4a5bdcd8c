import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.adapters.inmemory import InMemoryLedger
from commonplace.adapters.inmemory.index import InMemoryIndex
from commonplace.domain.errors import IndexUnavailable
from commonplace.domain.scope import Scope
from commonplace.ports.ledger import Change, FactRow, Feed, MessageRow, Vector, Versions
from commonplace.recall.projector import Patience, Projector, collection_name, deliver, delivery, plan, wanted
from tests.contracts.ledger.values import (
    ANA,
    BEN,
    START,
    a_fact,
    a_vector,
    added,
    closed,
    learned,
    new_message,
    new_version,
)

QUICK = Patience(attempts=3, first_pause=0.001, longest_pause=0.002)
ENDLESS = Patience(attempts=10_000, first_pause=0.001, longest_pause=0.002)


def a_message_row(n: int) -> MessageRow:
    return MessageRow(n, n, f"m{n}", None, "user", None, None, 0, None, None, 0, 5, b"", b"")


def a_fact_row(n: int, *, retracted_at: int | None = None) -> FactRow:
    return FactRow(n, f"f{n}", 1, "fact", 1.0, 0.5, 0, None, None, 0, retracted_at, None, None, None, b"", b"")


def a_feed(
    *, messages: Sequence[int] = (), believed: Sequence[int] = (), past: Sequence[int] = (), gone: Sequence[int] = ()
) -> Feed:
    facts = [*(a_fact_row(n) for n in believed), *(a_fact_row(n, retracted_at=1) for n in past)]
    return Feed(Versions(1, 9, 9, 9), [a_message_row(n) for n in messages], facts, gone)


class UnreliableIndex(InMemoryIndex):
    """Refuses some of the calls that change it, and remembers what it was told."""

    def __init__(self, *, refusals: int = 0, accepts: int = 10**9) -> None:
        super().__init__()
        self.refusals, self.accepts = refusals, accepts
        self.told: list[list[int]] = []
        self.owner = True

    @property
    def owned(self) -> bool:
        return self.owner and super().owned

    async def upsert(self, collection: str, vectors: Mapping[int, Vector], *, identity: str | None = None) -> None:
        self._consider()
        self.told.append([*vectors])
        await super().upsert(collection, vectors, identity=identity)

    async def remove(self, collection: str, numbers: Sequence[int]) -> None:
        self._consider()
        await super().remove(collection, numbers)

    def _consider(self) -> None:
        self.accepts -= 1
        if self.refusals or self.accepts < 0:
            self.refusals = max(0, self.refusals - 1)
            raise IndexUnavailable("not now")


@asynccontextmanager
async def running(ledger: InMemoryLedger, index: InMemoryIndex, patience: Patience = QUICK) -> AsyncIterator[Projector]:
    projector = Projector(ledger, index, batch=2, patience=patience, now=lambda: START)
    projector.start()
    try:
        yield projector
    finally:
        await projector.aclose()


async def held(ledger: InMemoryLedger, index: InMemoryIndex, scope: Scope = ANA) -> frozenset[int]:
    return await index.numbers(collection_name(ledger.name, (await ledger.versions(scope)).number))


async def agree(ledger: InMemoryLedger, index: InMemoryIndex, scope: Scope = ANA) -> bool:
    return await held(ledger, index, scope) == delivery(await ledger.feed(scope)).vectors.keys()


async def until(condition: Callable[[], object]) -> None:
    """Wait for what another task brings about."""
    for _ in range(30_000):
        if condition():
            return
        await asyncio.sleep(0.001)
    pytest.fail("it never happened")


def test_messages_and_believed_facts_go_in_and_past_versions_come_out() -> None:
    todo = plan(a_feed(messages=[1, 2], believed=[3], past=[4], gone=[5]))
    assert todo.upserts == [[1, 2, 3]]
    assert todo.removals == [[4, 5]]


def test_a_row_that_is_gone_is_not_put_back() -> None:
    assert plan(a_feed(messages=[1, 2], gone=[2])).upserts == [[1]]


def test_a_plan_comes_in_batches() -> None:
    todo = plan(a_feed(messages=range(5), gone=range(10, 13)), batch=2)
    assert todo.upserts == [[0, 1], [2, 3], [4]]
    assert todo.removals == [[10, 11], [12]]


def test_with_nothing_new_there_is_nothing_to_do() -> None:
    assert not any(plan(a_feed()).upserts)


def test_a_delivery_that_was_broken_off_goes_on_where_it_was() -> None:
    todo = plan(a_feed(messages=[1, 2, 3], past=[4], gone=[5]), held={1, 2, 5, 77})
    assert todo.upserts == [[3]]
    assert todo.removals == [[5, 77]]


numbers = st.lists(st.integers(0, 30), unique=True)


@given(messages=numbers, facts=numbers, past=numbers, gone=numbers, held=st.frozensets(st.integers(0, 30)))
def test_following_a_plan_from_the_beginning_leaves_exactly_what_is_wanted(
    messages: list[int], facts: list[int], past: list[int], gone: list[int], held: frozenset[int]
) -> None:
    believed = [n for n in facts if n not in messages]
    retracted = [n for n in past if n not in messages and n not in believed]
    feed = a_feed(messages=messages, believed=believed, past=retracted, gone=gone)
    todo = plan(feed, held=held, batch=3)
    after = held.union(*todo.upserts).difference(*todo.removals)
    assert after == wanted(feed) == frozenset([*messages, *believed]) - frozenset(gone)


@given(ledger=st.text("0123456789abcdef", min_size=1, max_size=64), partition=st.integers(1, 2**32))
def test_collections_have_names_that_every_index_accepts(ledger: str, partition: int) -> None:
    name = collection_name(ledger, partition)
    assert 3 <= len(name) <= 60
    assert set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")


async def test_what_the_ledger_has_is_delivered_with_its_vectors() -> None:
    ledger, index = InMemoryLedger(), InMemoryIndex()
    await ledger.write(ANA, learned("f1", "m1"))
    await deliver(ledger, index, ANA)
    assert await agree(ledger, index)
    collection = collection_name(ledger.name, (await ledger.versions(ANA)).number)
    (best, *_) = await index.search(collection, a_vector(0), limit=1)
    assert best.score == pytest.approx(1.0)


async def test_a_user_who_holds_nothing_gets_no_collection() -> None:
    index = InMemoryIndex()
    await deliver(InMemoryLedger(), index, ANA)
    assert await index.collections() == {}


async def test_only_what_is_new_is_delivered_the_next_time() -> None:
    ledger, index = InMemoryLedger(), UnreliableIndex()
    await ledger.write(ANA, added("m1", "m2"))
    await deliver(ledger, index, ANA)
    await ledger.write(ANA, added("m3"))
    await deliver(ledger, index, ANA)
    await deliver(ledger, index, ANA)
    assert [len(batch) for batch in index.told] == [2, 1]


async def test_a_retracted_fact_leaves_the_index() -> None:
    ledger, index = InMemoryLedger(), InMemoryIndex()
    await ledger.write(ANA, learned("f1", "m1"))
    await deliver(ledger, index, ANA)
    before = await held(ledger, index)
    await ledger.write(ANA, Change(closed=[closed("f1")]))
    await deliver(ledger, index, ANA)
    assert len(before) == 2
    assert len(await held(ledger, index)) == 1


async def test_rows_without_a_vector_follow_when_they_have_one() -> None:
    ledger, index = InMemoryLedger(), InMemoryIndex()
    await ledger.write(ANA, Change(messages=[new_message("m1", vector=False), new_message("m2")]))
    await deliver(ledger, index, ANA)
    assert len(await held(ledger, index)) == 1
    (bare,) = wanted(await ledger.feed(ANA)) - await held(ledger, index)
    await ledger.set_vectors(ANA, {bare: a_vector(1)})
    await deliver(ledger, index, ANA)
    assert bare in await held(ledger, index)


async def test_a_dropped_collection_is_fed_again_from_the_beginning() -> None:
    ledger, index = InMemoryLedger(), InMemoryIndex()
    await ledger.write(ANA, added("m1", "m2"))
    await deliver(ledger, index, ANA)
    for collection in await index.collections():
        await index.drop(collection)
    await deliver(ledger, index, ANA)
    assert await agree(ledger, index)


async def test_a_collection_replaced_while_it_is_fed_does_not_count_as_delivered() -> None:
    class Replaced(InMemoryIndex):
        async def upsert(self, collection: str, vectors: Mapping[int, Vector], *, identity: str | None = None) -> None:
            await super().upsert(collection, vectors, identity=identity)
            if 1 in vectors:
                await self.drop(collection)

    ledger, index = InMemoryLedger(), Replaced()
    await ledger.write(ANA, added(*(f"m{n}" for n in range(4))))
    with pytest.raises(IndexUnavailable):
        await deliver(ledger, index, ANA, batch=2)
    assert not await agree(ledger, index)


async def test_what_another_process_delivers_meanwhile_is_not_taken_for_what_is_gone() -> None:
    class Overtaken(InMemoryIndex):
        overtaken = False

        async def numbers(self, collection: str) -> frozenset[int]:
            if not self.overtaken:
                self.overtaken = True
                await deliver(ledger, self, ANA)
                await ledger.write(ANA, added("m2"))
                await deliver(ledger, self, ANA)
            return await super().numbers(collection)

    ledger, index = InMemoryLedger(), Overtaken()
    await ledger.write(ANA, added("m1"))
    await deliver(ledger, index, ANA)
    assert await agree(ledger, index)


steps = st.lists(
    st.tuples(st.sampled_from(["say", "learn", "end", "revise"]), st.integers(0, 3)), min_size=1, max_size=12
)


@given(steps=steps)
def test_whatever_is_written_and_wherever_delivery_breaks_off_the_next_one_repairs(
    steps: list[tuple[str, int]],
) -> None:
    async def story() -> None:
        ledger, index = InMemoryLedger(), UnreliableIndex()
        facts: dict[str, int] = {}
        for at, (step, accepts) in enumerate(steps):
            await ledger.write(ANA, change(step, at, facts))
            index.accepts = accepts
            try:
                await deliver(ledger, index, ANA, batch=1)
            except IndexUnavailable:
                continue
            assert await agree(ledger, index)
        index.accepts = 10**9
        await deliver(ledger, index, ANA, batch=1)
        assert await agree(ledger, index)

    asyncio.run(story())


def change(step: str, at: int, facts: dict[str, int]) -> Change:
    """Write something; `facts` are those believed, with their version."""
    match step, sorted(facts):
        case "learn", _:
            facts[f"f{at}"] = 1
            return learned(f"f{at}", f"m{at}")
        case "end", [fact, *_]:
            return Change(closed=[closed(fact, facts.pop(fact), at=at)])
        case "revise", [fact, *_]:
            facts[fact] += 1
            newer = new_version(a_fact(fact, version=facts[fact], at=at), seed=at)
            return Change(closed=[closed(fact, facts[fact] - 1, at=at)], versions=[newer])
        case _:
            return added(f"m{at}")


async def test_a_notified_projector_delivers_in_the_background() -> None:
    ledger, index = InMemoryLedger(), UnreliableIndex()
    async with running(ledger, index) as projector:
        for scope in (ANA, BEN):
            await ledger.write(scope, added("m1", "m2", "m3"))
            projector.notify(scope)
        await until(lambda: sum(map(len, index.told)) == 6)
    assert await agree(ledger, index, ANA)
    assert await agree(ledger, index, BEN)


async def test_settle_returns_when_everything_is_delivered_whether_the_projector_runs_or_not() -> None:
    ledger, index = InMemoryLedger(), InMemoryIndex()
    await ledger.write(ANA, added(*(f"m{n}" for n in range(7))))
    await Projector(ledger, index).settle(ANA)
    assert await agree(ledger, index)
    async with running(ledger, index) as projector:
        await ledger.write(ANA, added("m8"))
        projector.notify(ANA)
        await projector.settle(ANA)
        assert await agree(ledger, index)


async def test_what_failed_is_tried_again_and_seen_meanwhile() -> None:
    ledger, index = InMemoryLedger(), UnreliableIndex(refusals=10**9)
    await ledger.write(ANA, added("m1"))
    async with running(ledger, index, ENDLESS) as projector:
        projector.notify(ANA)
        await until(lambda: ANA in projector.failures and projector.failures[ANA].attempts > 2)
        failure = projector.failures[ANA]
        assert (failure.error, failure.at, failure.given_up) == ("not now", START, False)
        index.refusals = 0
        await until(lambda: not projector.failures)
    assert await agree(ledger, index)


async def test_it_gives_up_after_a_while_says_so_and_takes_a_new_chance() -> None:
    ledger, index = InMemoryLedger(), UnreliableIndex(refusals=3)
    await ledger.write(ANA, added("m1"))
    async with running(ledger, index, QUICK) as projector:
        projector.notify(ANA)
        await until(lambda: ANA in projector.failures and projector.failures[ANA].given_up)
        assert projector.failures[ANA].attempts == 3
        projector.notify(ANA)
        await until(lambda: not projector.failures)
    assert await agree(ledger, index)


async def test_one_user_who_fails_does_not_hold_up_another() -> None:
    class HatesAna(UnreliableIndex):
        async def identity(self, collection: str) -> str:
            if collection == hers:
                raise IndexUnavailable("damaged")
            return await super().identity(collection)

    ledger, index = InMemoryLedger(), HatesAna()
    for scope in (ANA, BEN):
        await ledger.write(scope, added("m1"))
    hers = collection_name(ledger.name, (await ledger.versions(ANA)).number)
    async with running(ledger, index, ENDLESS) as projector:
        projector.notify(ANA)
        await until(lambda: ANA in projector.failures)
        projector.notify(BEN)
        await until(lambda: index.told)
        assert [*projector.failures] == [ANA]


async def test_an_error_nobody_thought_of_is_recorded_and_does_not_end_it() -> None:
    class Surprising(InMemoryIndex):
        surprises = 1

        async def upsert(self, collection: str, vectors: Mapping[int, Vector], *, identity: str | None = None) -> None:
            self.surprises -= 1
            if self.surprises == 0:
                raise ZeroDivisionError("nobody thought of this")
            await super().upsert(collection, vectors, identity=identity)

    ledger, index = InMemoryLedger(), Surprising()
    await ledger.write(ANA, added("m1"))
    async with running(ledger, index) as projector:
        projector.notify(ANA)
        await until(lambda: projector.failures)
        assert "nobody" in projector.failures[ANA].error
        await until(lambda: not projector.failures)
    assert await agree(ledger, index)


async def test_settle_is_patient_and_then_says_that_it_failed() -> None:
    ledger, index = InMemoryLedger(), UnreliableIndex(refusals=2)
    await ledger.write(ANA, added("m1"))
    projector = Projector(ledger, index, patience=QUICK)
    await projector.settle(ANA)
    assert await agree(ledger, index)
    await ledger.write(ANA, added("m2"))
    index.refusals = 3
    with pytest.raises(IndexUnavailable):
        await projector.settle(ANA)


async def test_who_does_not_own_the_index_leaves_it_to_who_does() -> None:
    ledger, index = InMemoryLedger(), UnreliableIndex()
    index.owner = False
    await ledger.write(ANA, added("m1"))
    await ledger.write(BEN, added("m1"))
    async with running(ledger, index) as projector:
        projector.notify(ANA)
        await asyncio.sleep(0.01)
        index.owner = True
        projector.notify(BEN)
        await until(lambda: index.told)
        assert not projector.failures
    assert not await held(ledger, index, ANA)
    assert await agree(ledger, index, BEN)


async def test_it_stops_in_the_middle_and_the_next_one_carries_on() -> None:
    class Slow(UnreliableIndex):
        async def upsert(self, collection: str, vectors: Mapping[int, Vector], *, identity: str | None = None) -> None:
            await super().upsert(collection, vectors, identity=identity)
            await asyncio.sleep(0.001)

    ledger, index = InMemoryLedger(), Slow()
    await ledger.write(ANA, added(*(f"m{n}" for n in range(50))))
    async with running(ledger, index) as projector:
        projector.notify(ANA)
        await until(lambda: len(index.told) > 2)
    before = len(index.told)
    assert not await agree(ledger, index)
    await deliver(ledger, index, ANA)
    assert await agree(ledger, index)
    again = np.intersect1d(np.concatenate(index.told[:before]), np.concatenate(index.told[before:]))
    assert again.size == 0


async def test_stopping_twice_or_before_it_runs_is_no_error() -> None:
    projector = Projector(InMemoryLedger(), InMemoryIndex())
    await projector.aclose()
    projector.start()
    await projector.aclose()
    await projector.aclose()
