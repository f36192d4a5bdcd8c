from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import replace
from datetime import date, timedelta

import pytest

from commonplace.adapters.inmemory import InMemoryLedger
from commonplace.domain.archive import (
    Held,
    KeptErasure,
    KeptFact,
    KeptMessage,
    KeptSession,
    OfTenant,
    OfUser,
    Opened,
    Record,
    Spent,
)
from commonplace.domain.errors import InvalidInput
from commonplace.domain.keys import new_key
from commonplace.domain.receipts import Part, Receipt
from commonplace.domain.retention import Hold
from commonplace.domain.scope import Scope
from commonplace.domain.usage import Usage
from commonplace.domain.values import Block, FactId, MessageId, SessionId, Source
from commonplace.ports.erasure import Removal
from commonplace.ports.jobs import Job
from commonplace.ports.ledger import Change, Ledger
from tests.contracts.ledger.values import (
    ANA,
    BEN,
    NOBODY,
    OTHER_ANA,
    START,
    a_fact,
    added,
    closed,
    ended,
    happened,
    later,
    learned,
    new_message,
    new_version,
    said,
)

ELSEWHERE = Scope("new", "anna")


async def everything(ledger: Ledger, scope: Scope | None = None, *, passages: bool = True) -> list[Record]:
    return [record async for batch in ledger.read_archive(scope, passages=passages) for record in batch]


async def held_by(ledger: Ledger, scope: Scope) -> list[Held]:
    _, _, _, *held = await everything(ledger, scope)
    return [record for record in held if not isinstance(record, Opened | OfTenant | OfUser)]


async def fill(ledger: Ledger, scope: Scope = ANA, *, prefix: str = "") -> None:
    """Write something of every kind that belongs to a user."""
    await ledger.write(
        scope, Change(messages=[new_message("m0", "a\0b\ud800", passages=3, metadata={"a": [1, None]})], session_ttl=60)
    )
    await ledger.write(scope, learned())
    await ledger.write(scope, Change(messages=[new_message("m2", at=90, session=None, vector=False)]))
    await ledger.write(
        scope,
        Change(
            closed=[closed(replaced_by="f9")],
            versions=[new_version(a_fact(version=2, at=60, metadata={"why": "new"}), vector=False)],
            sources=[ended()],
            history=[happened("ended", version=2, at=60, message="m2", reason="said so")],
        ),
    )
    await ledger.set_block(scope, Block(name="profile", text="An", order=3, updated_at=START - timedelta(days=1)))
    await ledger.set_block(scope, Block(name="profile", text="Ana", order=3, updated_at=START))
    await ledger.update_session(scope, SessionId("s1"), {"step": 2}, now=later(5), ttl=3600)
    await ledger.touch_session(scope, SessionId("s2"), now=START, ttl=60)
    await ledger.end_session(scope, SessionId("s2"), now=later(1))
    await ledger.enqueue(
        Job(id=f"{prefix}j1", scope=scope, kind="learn", payload={"messages": ["m2"]}, epoch=0, run_at=START)
    )
    await ledger.enqueue(Job(id=f"{prefix}j2", scope=scope, kind="learn", payload=["m0"], epoch=0, run_at=later(1)))
    await ledger.bury(f"{prefix}j2", error="no answer")


async def forgot(ledger: Ledger, message: str, *, scope: Scope = ANA, concluded: bool = True) -> None:
    what = Part(message=MessageId(message))
    removal = Removal(id=f"forget-{message}", what=what, at=later(100), messages=[MessageId(message)])
    erased = await ledger.erase(scope, removal)
    if concluded:
        receipt = Receipt(
            id=erased.id,
            user=scope.user,
            what=what,
            counts={"ledger": erased.counts},
            digest=erased.digest,
            requested_at=erased.at,
            at=later(101),
            verified=("ledger",),
        )
        await ledger.conclude(receipt, erased)


class ArchiveContract:
    async def test_an_archive_of_nobody_has_its_marks_and_nothing_else(self, ledger: Ledger) -> None:
        opened = Opened(ledger=ledger.name, embedder=None)
        assert await everything(ledger) == [opened]
        assert await everything(ledger, NOBODY) == [opened, OfTenant("acme"), OfUser(None)]

    async def test_an_archive_says_whose_vectors_it_has(self, ledger: Ledger) -> None:
        await ledger.set_embedder_identity("minilm/1")
        assert await everything(ledger) == [Opened(ledger=ledger.name, embedder="minilm/1")]

    async def test_rows_come_in_the_order_of_writing_and_what_points_to_them_after(self, ledger: Ledger) -> None:
        await fill(ledger)
        held = await held_by(ledger, ANA)
        rows = [
            record.message.id if isinstance(record, KeptMessage) else (record.fact.id, record.fact.version)
            for record in held
            if isinstance(record, KeptMessage | KeptFact)
        ]
        assert rows == ["m0", "m1", ("f1", 1), "m2", ("f1", 2)]
        assert not any(isinstance(record, KeptMessage | KeptFact) for record in held[len(rows) :])

    async def test_a_record_says_all_there_is_to_say(self, ledger: Ledger) -> None:
        await fill(ledger)
        held = await held_by(ledger, ANA)
        messages = [record for record in held if isinstance(record, KeptMessage)]
        facts = [record for record in held if isinstance(record, KeptFact)]
        sessions = [record for record in held if isinstance(record, KeptSession)]
        assert messages[0].message.text == "a\0b\ud800"
        assert [passage.start for passage in messages[0].passages] == [0, 5, 10]
        assert all(passage.vector for passage in messages[0].passages)
        assert messages[2].passages[0].vector is None
        assert [fact.fact for fact in facts] == await ledger.all_versions(ANA)
        assert facts[0].fact.sources == (MessageId("m1"),)
        assert [(one.id, one.state, one.ended_at) for one in sessions] == [
            ("s1", {"step": 2}, None),
            ("s2", {}, later(1)),
        ]
        assert [record for record in held if isinstance(record, Source)] == [said(), ended()]
        assert [record for record in held if isinstance(record, Block)] == await ledger.blocks(ANA)

    async def test_passages_are_left_out_on_request(self, ledger: Ledger) -> None:
        await fill(ledger)
        with_them, without = await everything(ledger, ANA), await everything(ledger, ANA, passages=False)
        assert [type(record) for record in with_them] == [type(record) for record in without]
        assert all(record.passages == () for record in without if isinstance(record, KeptMessage))
        assert all(record.passage is None for record in without if isinstance(record, KeptFact))

    async def test_everybody_is_in_the_archive_of_a_ledger_tenant_by_tenant(self, ledger: Ledger) -> None:
        for scope in (BEN, OTHER_ANA, NOBODY):
            await ledger.write(scope, learned())
        await ledger.write(ANA, added("m1"))
        await forgot(ledger, "m1")
        await ledger.count_usage("acme", date(2026, 5, 12), Usage(requests=2))
        marks = [record for record in await everything(ledger) if isinstance(record, OfTenant | OfUser | Spent)]
        assert marks == [
            OfTenant("acme"),
            Spent(day=date(2026, 5, 12), usage=Usage(requests=2)),
            OfUser(None),
            OfUser("ana"),
            OfUser("ben"),
            OfTenant("other"),
            OfUser("ana"),
        ]

    async def test_the_archive_of_one_user_has_nothing_of_another(self, ledger: Ledger) -> None:
        await fill(ledger)
        alone = await everything(ledger, ANA)
        for number, scope in enumerate((BEN, OTHER_ANA, NOBODY)):
            await fill(ledger, scope, prefix=f"{number}-")
        assert await everything(ledger, ANA) == alone

    async def test_a_large_user_comes_in_batches_and_long_messages_stay_whole(self, ledger: Ledger) -> None:
        for n in range(6):
            await ledger.write(ANA, Change(messages=[new_message(f"m{n}-{k}", passages=1 + k % 3) for k in range(100)]))
        batches: list[Sequence[Record]] = [batch async for batch in ledger.read_archive(ANA)]
        kept = [record for batch in batches for record in batch if isinstance(record, KeptMessage)]
        assert len(batches) > 1
        assert [record.message.id for record in kept] == [f"m{n}-{k}" for n in range(6) for k in range(100)]
        assert [len(record.passages) for record in kept] == [1 + k % 3 for _ in range(6) for k in range(100)]

    async def test_an_archive_is_of_one_moment_while_others_write(self, ledger: Ledger) -> None:
        await ledger.write(ANA, Change(messages=[new_message(f"m{n}") for n in range(600)]))
        seen: list[str] = []
        async with aclosing(ledger.read_archive(ANA)) as batches:
            async for batch in batches:
                seen += [record.message.id for record in batch if isinstance(record, KeptMessage)]
                await ledger.write(ANA, added(f"later-{len(seen)}"))
                await ledger.write(BEN, added("m1"))
        assert seen == [f"m{n}" for n in range(600)]

    async def test_an_archive_that_is_not_read_to_its_end_holds_nobody_up(self, ledger: Ledger) -> None:
        await ledger.write(ANA, Change(messages=[new_message(f"m{n}") for n in range(600)]))
        async with aclosing(ledger.read_archive(ANA)) as batches:
            await anext(batches)
        await forgot(ledger, "m1")
        await ledger.scrub()

    async def test_what_was_read_is_written_with_the_same_ids_and_reads_the_same(self, ledger: Ledger) -> None:
        plain = InMemoryLedger()
        await fill(plain)
        await plain.write(ANA, added("m7"))
        await forgot(plain, "m7")
        held = await held_by(plain, ANA)
        await ledger.write_archive(ELSEWHERE, held)
        assert await held_by(ledger, ELSEWHERE) == held
        assert await ledger.messages_by_id(ELSEWHERE, [MessageId("m1")])
        assert await ledger.history(ELSEWHERE, FactId("f1")) == await plain.history(ANA, FactId("f1"))
        assert await ledger.receipts(ELSEWHERE) == await plain.receipts(ANA)
        assert (await ledger.feed(ELSEWHERE)).facts[0].sessions == '["s1"]'
        assert await ledger.check() == []

    async def test_a_ledger_reads_what_it_wrote(self, ledger: Ledger) -> None:
        await fill(ledger)
        held = await held_by(ledger, ANA)
        plain = InMemoryLedger()
        await plain.write_archive(ANA, held)
        assert await held_by(plain, ANA) == held

    async def test_the_same_records_twice_are_the_same_as_once(self, ledger: Ledger) -> None:
        plain = InMemoryLedger()
        await fill(plain)
        held = await held_by(plain, ANA)
        first = await ledger.write_archive(ANA, held)
        versions = await ledger.versions(ANA)
        second = await ledger.write_archive(ANA, held)
        assert first.added == {
            "messages": 3,
            "fact_versions": 2,
            "sources": 2,
            "changes": 2,
            "block_versions": 1,
            "blocks": 1,
            "sessions": 2,
            "jobs": 2,
        }
        assert (second.added, second.known, second.loose) == ({}, first.added, {})
        assert await held_by(ledger, ANA) == held
        assert await ledger.versions(ANA) == versions

    async def test_a_write_is_seen_by_who_asks_what_has_changed(self, ledger: Ledger) -> None:
        await ledger.write(ANA, added("m9"))
        seen = (await ledger.versions(ANA)).version
        plain = InMemoryLedger()
        await fill(plain)
        await ledger.write_archive(ANA, await held_by(plain, ANA))
        feed = await ledger.feed(ANA, since=seen)
        assert [row.id for row in feed.messages] == ["m0", "m0", "m0", "m1", "m2"]
        assert [(row.id, row.version) for row in feed.facts] == [("f1", 1), ("f1", 2)]

    async def test_what_is_known_is_left_as_it_is(self, ledger: Ledger) -> None:
        await ledger.write(ANA, Change(messages=[new_message("m1", "here first")]))
        await ledger.set_block(ANA, Block(name="profile", text="newer", order=0, updated_at=later(1)))
        plain = InMemoryLedger()
        await fill(plain)
        await ledger.write_archive(ANA, await held_by(plain, ANA))
        assert (await ledger.messages_by_id(ANA, [MessageId("m1")]))[MessageId("m1")].text == "here first"
        assert [block.text for block in await ledger.blocks(ANA)] == ["newer"]

    async def test_a_later_block_replaces_an_older_one(self, ledger: Ledger) -> None:
        old = Block(name="profile", text="old", order=0, updated_at=START)
        new = Block(name="profile", text="new", order=1, updated_at=later(1))
        await ledger.write_archive(ANA, [old])
        assert (await ledger.write_archive(ANA, [new])).added == {"blocks": 1}
        assert await ledger.blocks(ANA) == [new]

    async def test_a_version_that_was_closed_since_is_closed_here_too(self, ledger: Ledger) -> None:
        plain = InMemoryLedger()
        await plain.write(ANA, learned())
        await ledger.write_archive(ANA, await held_by(plain, ANA))
        await plain.write(ANA, Change(closed=[closed()], versions=[new_version(a_fact(version=2, at=60))]))
        written = await ledger.write_archive(ANA, await held_by(plain, ANA))
        assert written.added == {"fact_versions": 1}
        assert await ledger.all_versions(ANA) == await plain.all_versions(ANA)

    async def test_an_open_version_beside_another_open_one_is_left_out(self, ledger: Ledger) -> None:
        await ledger.write(ANA, Change(versions=[new_version(a_fact(version=7))]))
        plain = InMemoryLedger()
        await plain.write(ANA, Change(versions=[new_version(a_fact(version=2))]))
        written = await ledger.write_archive(ANA, await held_by(plain, ANA))
        assert (written.added, written.loose) == ({}, {"fact_versions": 1})
        assert [fact.version for fact in await ledger.believed(ANA)] == [7]

    async def test_what_points_to_nothing_is_left_out_and_counted(self, ledger: Ledger) -> None:
        plain = InMemoryLedger()
        await fill(plain)
        held = [
            record
            for record in await held_by(plain, ANA)
            if not (isinstance(record, KeptMessage) and record.message.id == "m2")
        ]
        written = await ledger.write_archive(ANA, held)
        assert written.loose == {"sources": 1, "changes": 1}
        assert await ledger.sources(ANA, FactId("f1")) == [said()]

    async def test_a_message_without_passages_is_refused_and_nothing_is_written(self, ledger: Ledger) -> None:
        plain = InMemoryLedger()
        await fill(plain)
        first, second, *_ = [record for record in await held_by(plain, ANA) if isinstance(record, KeptMessage)]
        with pytest.raises(InvalidInput, match="'m1' has no passages"):
            await ledger.write_archive(ANA, [first, replace(second, passages=())])
        assert await ledger.messages_by_id(ANA, [first.message.id]) == {}

    async def test_a_forget_that_was_cut_short_is_pending_in_the_other_ledger(self, ledger: Ledger) -> None:
        plain = InMemoryLedger()
        await plain.write(ANA, added("m1"))
        await forgot(plain, "m1", concluded=False)
        (erasure,) = [record for record in await held_by(plain, ANA) if isinstance(record, KeptErasure)]
        await ledger.write_archive(ANA, [erasure])
        (pending,) = await ledger.pending_erasures()
        assert (pending.id, pending.scope, pending.digest) == ("forget-m1", ANA, erasure.digest)
        assert await ledger.remains(pending) == 0

    async def test_a_job_is_queued_in_the_epoch_of_the_user_it_comes_to(self, ledger: Ledger) -> None:
        await ledger.write(ANA, added("m8"))
        await forgot(ledger, "m8")
        plain = InMemoryLedger()
        await fill(plain)
        await plain.claim(kinds=["learn"], now=later(10), lease=60)
        await ledger.write_archive(ANA, await held_by(plain, ANA))
        jobs = {job.id: job for job in await ledger.jobs("acme")}
        assert (jobs["j1"].status, jobs["j1"].epoch) == ("queued", await ledger.epoch(ANA))
        assert (jobs["j2"].status, jobs["j2"].error) == ("dead", "no answer")

    async def test_keys_go_to_the_tenant_and_stay_revoked(self, ledger: Ledger) -> None:
        key, _ = new_key(tenant="acme", user=None, role="read", label="", now=START)
        plain = InMemoryLedger()
        await plain.add_key(key)
        assert await everything(plain) == [Opened(ledger=plain.name, embedder=None), OfTenant("acme"), key]
        assert (await ledger.write_archive(NOBODY, [key])).added == {"api_keys": 1}
        assert await everything(ledger) == [Opened(ledger=ledger.name, embedder=None), OfTenant("acme"), key]
        revoked = replace(key, revoked_at=later(1))
        for record in (revoked, key):
            assert (await ledger.write_archive(NOBODY, [record])).known == {"api_keys": 1}
            assert (await everything(ledger))[2:] == [revoked]

    async def test_a_user_on_hold_stays_on_hold(self, ledger: Ledger) -> None:
        hold = Hold(user="ana", since=START, reason="a case")
        plain = InMemoryLedger()
        await plain.hold(ANA, hold)
        assert await everything(plain) == [Opened(ledger=plain.name, embedder=None), OfTenant("acme"), hold]
        assert (await ledger.write_archive(NOBODY, [hold])).added == {"holds": 1}
        assert (await ledger.write_archive(NOBODY, [replace(hold, since=later(9))])).known == {"holds": 1}
        assert (await everything(ledger))[1:] == [OfTenant("acme"), hold]

    async def test_what_models_have_cost_is_not_counted_twice(self, ledger: Ledger) -> None:
        day, spent = date(2026, 5, 12), Usage(requests=3, input_tokens=10)
        await ledger.count_usage("acme", day, Usage(requests=1, output_tokens=5))
        for _ in range(2):
            await ledger.write_archive(NOBODY, [Spent(day=day, usage=spent)])
        assert await ledger.usage("acme", day) == Usage(requests=3, input_tokens=10, output_tokens=5)
        assert await ledger.scopes("acme") == {}
