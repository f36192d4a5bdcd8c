import json
from dataclasses import replace

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from commonplace.domain.scope import Scope
from commonplace.domain.times import to_micros
from commonplace.domain.values import FactId
from commonplace.ports.ledger import Change, Feed, Ledger, Reinforced, Versions
from tests.contracts.ledger.values import (
    ANA,
    BEN,
    NOBODY,
    Cache,
    a_fact,
    a_vector,
    added,
    closed,
    ended,
    later,
    learned,
    new_message,
    new_version,
    said,
)

steps = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 5), st.integers(0, 5), st.booleans()), max_size=25)


async def step(ledger: Ledger, scope: Scope, kind: int, a: int, b: int) -> None:
    """Make one change that is possible now; a step that is not possible changes nothing."""
    fact = (await ledger.facts_by_id(scope, [FactId(f"f{a}")])).get(FactId(f"f{a}"))
    message = await ledger.messages_by_id(scope, [new_message(f"m{b}").message.id])
    is_open = fact is not None and fact.retracted_at is None
    match kind:
        case 0 | 1:
            await ledger.write(scope, Change(messages=[new_message(f"m{b}", passages=1 + a % 3, session=f"s{a % 2}")]))
        case 2 if fact is None:
            await ledger.write(scope, Change(versions=[new_version(a_fact(f"f{a}"), vector=b % 2 == 0)]))
        case 3 if fact is not None and is_open:
            await ledger.write(scope, Change(closed=[closed(f"f{a}", fact.version)]))
        case 4 if fact is not None and not is_open:
            await ledger.write(scope, Change(versions=[new_version(a_fact(f"f{a}", version=fact.version + 1))]))
        case 5 if fact is not None and message:
            await ledger.write(scope, Change(sources=[said(f"f{a}", f"m{b}")]))
        case 6 if fact is not None and is_open:
            reinforced = Reinforced(fact=fact.id, version=fact.version, confidence=b / 10)
            await ledger.write(scope, Change(reinforced=[reinforced]))
        case 7:
            await ledger.set_vectors(scope, {1 + a: a_vector(b)})
        case _:
            pass


class IndexFeedContract:
    async def test_a_user_with_nothing_has_version_0(self, ledger: Ledger) -> None:
        assert await ledger.versions(ANA) == Versions(0, 0, 0, 0)
        assert await ledger.feed(ANA) == Feed(Versions(0, 0, 0, 0), [], [], [])
        assert await ledger.scopes("acme") == {}

    async def test_every_write_raises_the_version_by_one(self, ledger: Ledger) -> None:
        await ledger.write(ANA, added("m1"))
        first = await ledger.versions(ANA)
        await ledger.write(ANA, Change(messages=[new_message("m2", passages=3), new_message("m3")]))
        second = await ledger.versions(ANA)
        await ledger.write(ANA, learned("f1", "m4"))
        third = await ledger.versions(ANA)
        assert [(one.version, one.fact_version, one.rows) for one in (first, second, third)] == [
            (1, 0, 1),
            (2, 0, 5),
            (3, 1, 7),
        ]
        assert first.number == second.number == third.number > 0

    async def test_a_message_row_has_what_an_index_needs(self, ledger: Ledger) -> None:
        await ledger.write(ANA, Change(messages=[new_message("m1", at=7, metadata={"a": 1})]))
        (row,) = (await ledger.feed(ANA)).messages
        assert (row.n, row.first, row.id, row.session, row.role) == (1, 1, "m1", "s1", "user")
        assert (row.name, row.agent, row.expires_at) == (None, None, None)
        assert row.at == to_micros(later(7))
        assert json.loads(row.metadata or "") == {"a": 1}
        assert (row.start, row.stop, row.terms) == (0, 5, b"terms 0")
        assert row.vector == a_vector(0).tobytes()

    async def test_no_metadata_is_none(self, ledger: Ledger) -> None:
        await ledger.write(ANA, learned())
        feed = await ledger.feed(ANA)
        assert [row.metadata for row in feed.messages] == [None]
        assert [row.metadata for row in feed.facts] == [None]

    async def test_passages_have_numbers_of_their_own_and_know_their_message(self, ledger: Ledger) -> None:
        await ledger.write(ANA, Change(messages=[new_message("m1", passages=3), new_message("m2")]))
        await ledger.write(ANA, Change(messages=[new_message("m3", passages=2)]))
        rows = (await ledger.feed(ANA)).messages
        assert [(row.n, row.first, row.id, row.start) for row in rows] == [
            (1, 1, "m1", 0),
            (2, 1, "m1", 5),
            (3, 1, "m1", 10),
            (4, 4, "m2", 0),
            (5, 5, "m3", 0),
            (6, 5, "m3", 5),
        ]

    async def test_a_fact_row_has_what_an_index_needs(self, ledger: Ledger) -> None:
        await ledger.write(ANA, learned())
        (row,) = (await ledger.feed(ANA)).facts
        assert (row.n, row.id, row.version, row.kind) == (2, "f1", 1, "fact")
        assert (row.confidence, row.importance) == (1.0, 0.5)
        assert (row.said_at, row.recorded_at) == (to_micros(later(0)), to_micros(later(0)))
        assert (row.valid_from, row.valid_to, row.retracted_at, row.expires_at) == (None, None, None, None)
        assert row.sessions == json.dumps(["s1"])
        assert (row.terms, row.vector) == (b"terms 0", a_vector(0).tobytes())

    async def test_a_fact_belongs_to_the_sessions_that_taught_it(self, ledger: Ledger) -> None:
        await ledger.write(ANA, learned())
        more = [new_message("m2", session="s2"), new_message("m3", session=None), new_message("m4", session="s4")]
        sources = [said("f1", "m3"), said("f1", "m2"), ended("f1", "m4")]
        await ledger.write(ANA, Change(messages=more, sources=sources))
        (row,) = (await ledger.feed(ANA, since=1)).facts
        assert json.loads(row.sessions or "") == ["s1", "s2"]

    async def test_a_fact_without_sessions_has_none(self, ledger: Ledger) -> None:
        await ledger.write(ANA, Change(versions=[new_version(a_fact())]))
        assert [row.sessions for row in (await ledger.feed(ANA)).facts] == [None]

    async def test_only_what_changed_since_is_fed(self, ledger: Ledger) -> None:
        await ledger.write(ANA, learned("f1", "m1"))
        await ledger.write(ANA, learned("f2", "m2"))
        feed = await ledger.feed(ANA, since=1)
        assert [row.id for row in feed.messages] == ["m2"]
        assert [row.id for row in feed.facts] == ["f2"]
        assert feed.versions == await ledger.versions(ANA)
        nothing = await ledger.feed(ANA, since=2)
        assert (nothing.messages, nothing.facts, nothing.removed) == ([], [], [])

    async def test_many_changes_are_fed_in_the_order_of_their_rows(self, ledger: Ledger) -> None:
        await ledger.write(ANA, added("m0"))
        many = [new_message(f"m{n}", passages=1 + n % 2) for n in range(1, 200)]
        await ledger.write(ANA, Change(messages=many))
        fed, whole = await ledger.feed(ANA, since=1), await ledger.feed(ANA)
        assert fed == whole._replace(messages=whole.messages[1:])

    async def test_what_changed_is_fed_without_vectors_and_of_odd_names(self, ledger: Ledger) -> None:
        await ledger.write(ANA, added("m1"))
        odd = replace(learned("f1", "m2\0\ud800"), messages=[new_message("m2\0\ud800", session="\ud800\0s")])
        await ledger.write(ANA, odd)
        fed, whole = await ledger.feed(ANA, since=1, vectors=False), await ledger.feed(ANA, vectors=False)
        assert fed == whole._replace(messages=whole.messages[1:])
        assert json.loads(fed.facts[0].sessions or "[]") == ["\ud800\0s"]

    async def test_nothing_has_changed_for_a_user_with_nothing(self, ledger: Ledger) -> None:
        assert await ledger.feed(ANA, since=5) == Feed(Versions(0, 0, 0, 0), [], [], [])

    async def test_a_version_that_is_closed_is_fed_again(self, ledger: Ledger) -> None:
        await ledger.write(ANA, learned())
        await ledger.write(ANA, Change(closed=[closed(at=60)], versions=[new_version(a_fact(version=2, at=60))]))
        feed = await ledger.feed(ANA, since=1)
        assert [(row.version, row.retracted_at) for row in feed.facts] == [(1, to_micros(later(60))), (2, None)]
        assert feed.messages == []

    async def test_a_new_source_feeds_every_version_of_the_fact_again(self, ledger: Ledger) -> None:
        await ledger.write(ANA, learned())
        await ledger.write(ANA, Change(closed=[closed(at=60)], versions=[new_version(a_fact(version=2, at=60))]))
        await ledger.write(ANA, Change(messages=[new_message("m2", session="s2")], sources=[said("f1", "m2")]))
        rows = (await ledger.feed(ANA, since=2)).facts
        assert [(row.version, json.loads(row.sessions or "")) for row in rows] == [(1, ["s1", "s2"]), (2, ["s1", "s2"])]

    async def test_without_vectors_everything_else_is_the_same(self, ledger: Ledger) -> None:
        await ledger.write(ANA, learned())
        full, bare = await ledger.feed(ANA), await ledger.feed(ANA, vectors=False)
        assert bare.messages == [row._replace(vector=None) for row in full.messages]
        assert bare.facts == [row._replace(vector=None) for row in full.facts]

    async def test_vectors_are_read_by_number(self, ledger: Ledger) -> None:
        await ledger.write(ANA, Change(messages=[new_message("m1", passages=2), new_message("m2", vector=False)]))
        await ledger.write(ANA, Change(versions=[new_version(a_fact(), seed=9)]))
        found = await ledger.vectors(ANA, [4, 1, 2, 3, 99])
        assert found == {1: a_vector(0).tobytes(), 2: a_vector(1).tobytes(), 4: a_vector(9).tobytes()}
        assert np.array_equal(np.frombuffer(found[4], dtype=np.float32), a_vector(9))
        assert await ledger.vectors(BEN, [1]) == {}

    async def test_a_partition_is_read_slab_by_slab(self, ledger: Ledger) -> None:
        await ledger.write(ANA, Change(messages=[new_message("m1", passages=3), new_message("m2")]))
        await ledger.write(ANA, learned("f1", "m3"))
        await ledger.write(BEN, added("m1"))
        whole = await ledger.feed(ANA)
        read: list[tuple[list[int], list[int]]] = []
        after = 0
        for _ in range(4):
            slab = await ledger.slab(ANA, after=after, limit=2)
            assert slab.versions == whole.versions
            read.append(([row.n for row in slab.messages], [row.n for row in slab.facts]))
            after += 2
        assert read == [([1, 2], []), ([3, 4], []), ([5], [6]), ([], [])]
        assert await ledger.slab(ANA, after=0, limit=99) == whole
        assert await ledger.slab(ANA, after=0, limit=99, vectors=False) == await ledger.feed(ANA, vectors=False)

    async def test_rows_are_read_by_number(self, ledger: Ledger) -> None:
        await ledger.write(ANA, Change(messages=[new_message("m1", passages=3), new_message("m2")]))
        await ledger.write(ANA, learned("f1", "m3"))
        await ledger.write(BEN, added("m1"))
        whole = await ledger.feed(ANA)
        found = await ledger.rows(ANA, [6, 2, 99, 0, -1, 2])
        assert found.messages == [row for row in whole.messages if row.n == 2]
        assert found.facts == whole.facts
        assert (found.versions, found.removed) == (whole.versions, [])
        bare = await ledger.rows(ANA, [2], vectors=False)
        assert [row.vector for row in bare.messages] == [None]
        assert (await ledger.rows(ANA, [])).messages == []
        assert await ledger.rows(NOBODY, [1]) == Feed(Versions(0, 0, 0, 0), [], [], [])

    async def test_vectors_are_read_in_the_order_of_their_rows(self, ledger: Ledger) -> None:
        await ledger.write(ANA, Change(messages=[new_message("m1", passages=2), new_message("m2", vector=False)]))
        await ledger.write(ANA, learned("f1", "m3"))
        await ledger.write(BEN, added("m1"))
        assert list(await ledger.vectors_after(ANA, after=0, limit=3)) == [1, 2, 4]
        assert await ledger.vectors_after(ANA, after=4, limit=3) == {5: a_vector(0).tobytes()}
        assert await ledger.vectors_after(ANA, after=5, limit=3) == {}
        assert await ledger.vectors_after(NOBODY, after=0, limit=3) == {}

    async def test_vectors_can_be_filled_in_later(self, ledger: Ledger) -> None:
        await ledger.write(ANA, Change(messages=[new_message("m1", vector=False), new_message("m2", vector=False)]))
        await ledger.write(ANA, Change(versions=[new_version(a_fact(), vector=False)]))
        before = await ledger.versions(ANA)
        await ledger.set_vectors(ANA, {1: a_vector(1), 3: a_vector(3), 99: a_vector(99)})
        feed = await ledger.feed(ANA, since=before.version)
        assert feed.versions.version == before.version + 1
        assert [(row.n, row.vector) for row in feed.messages] == [(1, a_vector(1).tobytes())]
        assert [(row.n, row.vector) for row in feed.facts] == [(3, a_vector(3).tobytes())]
        assert await ledger.vectors(ANA, [2, 99]) == {}
        assert (await ledger.counts_of(ANA)).rows_without_vector == 1

    async def test_tokens_come_and_go_with_their_vector(self, ledger: Ledger) -> None:
        message, fact = new_message("m1"), new_version(a_fact())
        entries = tuple(replace(entry, tokens=b"tokens of m1") for entry in message.entries)
        told = replace(fact, entry=replace(fact.entry, tokens=b"tokens of f1"))
        await ledger.write(ANA, Change(messages=[replace(message, entries=entries)], versions=[told]))
        feed = await ledger.feed(ANA)
        assert [row.tokens for row in feed.messages] == [b"tokens of m1"]
        assert [row.tokens for row in feed.facts] == [b"tokens of f1"]
        assert [row.tokens for row in (await ledger.feed(ANA, vectors=False)).messages] == [None]
        await ledger.set_vectors(ANA, {1: a_vector(1), 2: a_vector(2)}, tokens={1: b"other"})
        feed = await ledger.feed(ANA)
        assert ([row.tokens for row in feed.messages], [row.tokens for row in feed.facts]) == ([b"other"], [None])

    async def test_filling_in_vectors_does_not_make_decisions_old(self, ledger: Ledger) -> None:
        await ledger.write(ANA, Change(versions=[new_version(a_fact(), vector=False)]))
        seen = (await ledger.versions(ANA)).fact_version
        await ledger.set_vectors(ANA, {1: a_vector(1)})
        assert (await ledger.versions(ANA)).fact_version == seen

    @given(steps=steps)
    @settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
    async def test_a_cache_fed_step_by_step_equals_one_fed_at_once(
        self, ledger: Ledger, steps: list[tuple[int, int, int, bool]]
    ) -> None:
        scope = Scope("acme", f"user {len(await ledger.scopes('acme'))}")
        cache = Cache()
        for kind, a, b, look in steps:
            await step(ledger, scope, kind, a, b)
            if look:
                cache.take(await ledger.feed(scope, since=cache.version))
        cache.take(await ledger.feed(scope, since=cache.version))
        at_once = Cache()
        at_once.take(await ledger.feed(scope))
        assert cache == at_once
        assert len(cache.messages) + len(cache.facts) == (await ledger.versions(scope)).rows

    async def test_an_index_remembers_how_far_it_was_fed(self, ledger: Ledger) -> None:
        await ledger.write(ANA, added("m1"))
        assert await ledger.delivered(ANA, "chroma") == 0
        await ledger.set_delivered(ANA, "chroma", 1)
        await ledger.set_delivered(ANA, "other", 7)
        await ledger.set_delivered(ANA, "chroma", 2)
        assert await ledger.delivered(ANA, "chroma") == 2
        assert await ledger.delivered(ANA, "other") == 7
        assert await ledger.delivered(BEN, "chroma") == 0

    async def test_scopes_are_the_users_who_hold_something(self, ledger: Ledger) -> None:
        await ledger.write(ANA, added("m1"))
        await ledger.write(NOBODY, Change(versions=[new_version(a_fact())]))
        await ledger.write(Scope("other", "cy"), added("m1"))
        await ledger.set_delivered(BEN, "chroma", 0)
        assert set(await ledger.scopes("acme")) == {ANA, NOBODY}
        await ledger.append_block(BEN, "profile", "Ben", now=later(0))
        assert set(await ledger.scopes("acme")) == {ANA, NOBODY, BEN}
        assert list(await ledger.scopes("other")) == [Scope("other", "cy")]
        assert await ledger.scopes("acme") == {scope: await ledger.versions(scope) for scope in (ANA, NOBODY, BEN)}
