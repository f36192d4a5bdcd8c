import asyncio
from dataclasses import replace

import pytest

from commonplace.domain.errors import Conflict, InvalidInput, NotFound
from commonplace.domain.values import FactId, MessageId
from commonplace.ports.ledger import Change, Ledger, MessageQuery, NewMessage, Reinforced, Versions
from tests.contracts.ledger.values import (
    ANA,
    a_fact,
    a_message,
    added,
    closed,
    happened,
    learned,
    new_message,
    new_version,
    said,
)


async def everything(ledger: Ledger) -> tuple[object, ...]:
    """Return all that can be seen of a user. What a file takes is not: a server tidies up when it likes."""
    feed = await ledger.feed(ANA)
    page = await ledger.messages(ANA, MessageQuery(limit=1000))
    return feed, page, await ledger.all_versions(ANA), replace(await ledger.counts_of(ANA), bytes_on_disk=0)


class WritingContract:
    async def test_a_known_message_is_left_as_it_is(self, ledger: Ledger) -> None:
        await ledger.write(ANA, Change(messages=[new_message("m1", "the first text")]))
        before = await everything(ledger)
        known = await ledger.write(ANA, Change(messages=[new_message("m1", "another text", at=9)]))
        assert known == {"m1"}
        assert await everything(ledger) == before

    async def test_only_the_messages_that_were_there_before_are_returned(self, ledger: Ledger) -> None:
        await ledger.write(ANA, added("m1"))
        assert await ledger.write(ANA, added("m1", "m2", "m2")) == {"m1"}
        assert await ledger.messages_by_id(ANA, [MessageId("m2")]) == {"m2": a_message("m2")}

    async def test_a_change_with_nothing_in_it_leaves_no_trace(self, ledger: Ledger) -> None:
        assert await ledger.write(ANA, Change()) == frozenset()
        assert await ledger.versions(ANA) == Versions(0, 0, 0, 0)
        assert await ledger.scopes("acme") == {}

    async def test_a_message_without_entries_is_refused(self, ledger: Ledger) -> None:
        with pytest.raises(InvalidInput, match="m1"):
            await ledger.write(ANA, Change(messages=[NewMessage(message=a_message("m1"), entries=())]))

    @pytest.mark.parametrize(
        "broken",
        [
            Change(sources=[said("f1", "no such message")]),
            Change(sources=[said("no such fact", "m1")]),
            Change(closed=[closed("no such fact")]),
            Change(closed=[closed("f1", version=7)]),
            Change(reinforced=[Reinforced(fact=FactId("no such fact"), version=1, confidence=0.5)]),
            Change(history=[happened("ended", "no such fact")]),
            Change(history=[happened("ended", "f1", version=7)]),
            Change(history=[happened("ended", "f1", message="no such message")]),
        ],
        ids=lambda change: next(
            name for name in ("sources", "closed", "reinforced", "history") if getattr(change, name)
        ),
    )
    async def test_what_points_to_nothing_is_refused_and_nothing_is_written(
        self, ledger: Ledger, broken: Change
    ) -> None:
        await ledger.write(ANA, learned())
        before = await everything(ledger)
        with_more = replace(broken, messages=[new_message("m9")], versions=[new_version(a_fact("f9"))])
        with pytest.raises(NotFound):
            await ledger.write(ANA, with_more)
        assert await everything(ledger) == before

    async def test_a_refused_first_write_leaves_no_user_behind(self, ledger: Ledger) -> None:
        with pytest.raises(NotFound):
            await ledger.write(ANA, Change(messages=[new_message()], sources=[said()]))
        assert await ledger.versions(ANA) == Versions(0, 0, 0, 0)
        assert await ledger.scopes("acme") == {}

    async def test_a_second_open_version_is_a_conflict(self, ledger: Ledger) -> None:
        await ledger.write(ANA, learned())
        before = await everything(ledger)
        with pytest.raises(Conflict, match="f1"):
            await ledger.write(ANA, Change(messages=[new_message("m2")], versions=[new_version(a_fact(version=2))]))
        assert await everything(ledger) == before

    async def test_the_same_version_twice_is_a_conflict(self, ledger: Ledger) -> None:
        await ledger.write(ANA, learned())
        await ledger.write(ANA, Change(closed=[closed()]))
        with pytest.raises(Conflict, match="f1"):
            await ledger.write(ANA, Change(versions=[new_version(a_fact())]))

    async def test_closing_a_closed_version_is_a_conflict(self, ledger: Ledger) -> None:
        await ledger.write(ANA, learned())
        await ledger.write(ANA, Change(closed=[closed()]))
        with pytest.raises(Conflict, match="f1"):
            await ledger.write(ANA, Change(closed=[closed()]))

    async def test_reinforcing_a_closed_version_is_a_conflict(self, ledger: Ledger) -> None:
        await ledger.write(ANA, learned())
        await ledger.write(ANA, Change(closed=[closed()]))
        with pytest.raises(Conflict, match="f1"):
            await ledger.write(ANA, Change(reinforced=[Reinforced(fact=FactId("f1"), version=1, confidence=0.9)]))

    async def test_closing_comes_before_the_next_version(self, ledger: Ledger) -> None:
        await ledger.write(ANA, learned())
        await ledger.write(ANA, Change(closed=[closed()], versions=[new_version(a_fact(version=2))]))
        assert [fact.version for fact in await ledger.believed(ANA)] == [2]

    async def test_decisions_made_on_old_facts_are_a_conflict(self, ledger: Ledger) -> None:
        seen = (await ledger.versions(ANA)).fact_version
        await ledger.write(ANA, replace(learned("f1", "m1"), facts_seen=seen))
        before = await everything(ledger)
        with pytest.raises(Conflict):
            await ledger.write(ANA, replace(learned("f2", "m2"), facts_seen=seen))
        assert await everything(ledger) == before

    async def test_messages_do_not_make_decisions_old(self, ledger: Ledger) -> None:
        await ledger.write(ANA, learned("f1", "m1"))
        seen = (await ledger.versions(ANA)).fact_version
        await ledger.write(ANA, added("m2"))
        await ledger.write(ANA, replace(learned("f3", "m3"), facts_seen=seen))
        assert {fact.id for fact in await ledger.believed(ANA)} == {"f1", "f3"}

    async def test_several_changes_are_written_in_their_order_or_not_at_all(self, ledger: Ledger) -> None:
        ending = Change(closed=[closed()], versions=[new_version(a_fact(version=2))])
        assert await ledger.write(ANA, learned(), ending) == frozenset()
        assert [(fact.version, fact.retracted_at is None) for fact in await ledger.all_versions(ANA)] == [
            (1, False),
            (2, True),
        ]
        before = await everything(ledger)
        with pytest.raises(Conflict):
            await ledger.write(ANA, added("m7"), learned("f8", "m8"), ending)
        assert await everything(ledger) == before
        assert await ledger.write(ANA) == frozenset()

    async def test_each_of_several_changes_sees_the_facts_of_those_before_it(self, ledger: Ledger) -> None:
        first, second = learned("f1", "m1"), learned("f2", "m2")
        await ledger.write(ANA, replace(first, facts_seen=0), replace(second, facts_seen=1))
        assert {fact.id for fact in await ledger.believed(ANA)} == {"f1", "f2"}
        assert (await ledger.versions(ANA)).version == 2
        assert [row.id for row in (await ledger.feed(ANA, since=1)).facts] == ["f2"]

    async def test_of_many_who_decide_at_once_one_wins(self, ledger: Ledger) -> None:
        async def decide(n: int) -> bool:
            try:
                await ledger.write(ANA, replace(learned(f"f{n}", f"m{n}"), facts_seen=0))
            except Conflict:
                return False
            return True

        assert sum(await asyncio.gather(*(decide(n) for n in range(20)))) == 1
        assert len(await ledger.believed(ANA)) == 1
        assert len((await ledger.messages(ANA, MessageQuery())).messages) == 1

    async def test_many_who_write_at_once_all_succeed(self, ledger: Ledger) -> None:
        ids = [f"m{n}" for n in range(200)]
        await asyncio.gather(*(ledger.write(ANA, added(id_)) for id_ in ids))
        assert set(await ledger.messages_by_id(ANA, [MessageId(id_) for id_ in ids])) == set(ids)
        versions = await ledger.versions(ANA)
        assert (versions.version, versions.rows) == (200, 200)

    async def test_one_that_fails_among_many_takes_nothing_else_with_it(self, ledger: Ledger) -> None:
        changes = [added(f"m{n}") if n % 3 else replace(added(f"m{n}"), closed=[closed("none")]) for n in range(60)]
        results = await asyncio.gather(*(ledger.write(ANA, change) for change in changes), return_exceptions=True)
        assert [isinstance(result, NotFound) for result in results] == [n % 3 == 0 for n in range(60)]
        page = await ledger.messages(ANA, MessageQuery(limit=100))
        assert {message.id for message in page.messages} == {f"m{n}" for n in range(60) if n % 3}

    async def test_the_same_message_from_many_at_once_is_one_message(self, ledger: Ledger) -> None:
        known = await asyncio.gather(*(ledger.write(ANA, added("m1")) for _ in range(20)))
        assert sorted(len(ids) for ids in known) == [0] + [1] * 19
        assert (await ledger.counts_of(ANA)).messages == 1

    async def test_what_was_written_is_read_at_once(self, ledger: Ledger) -> None:
        for n in range(30):
            await ledger.write(ANA, added(f"m{n}"))
            assert (await ledger.versions(ANA)).version == n + 1
            assert [row.id for row in (await ledger.feed(ANA, since=n)).messages] == [f"m{n}"]
