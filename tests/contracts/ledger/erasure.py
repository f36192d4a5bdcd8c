from dataclasses import replace
from itertools import count

import pytest

from commonplace.domain.errors import Conflict, Overtaken
from commonplace.domain.receipts import Part, Receipt, digest_of
from commonplace.domain.scope import Scope
from commonplace.domain.values import FactId, MessageId, SessionId
from commonplace.ports.erasure import Erased, Removal, Reopened, Reworded
from commonplace.ports.jobs import Job
from commonplace.ports.ledger import Change, Ledger
from tests.contracts.ledger.values import (
    ANA,
    BEN,
    Cache,
    a_fact,
    a_vector,
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

WHOLE = Part()


def ids(*names: str) -> list[MessageId]:
    return [MessageId(name) for name in names]


def facts(*names: str) -> list[FactId]:
    return [FactId(name) for name in names]


def a_removal(*messages: str, gone: tuple[str, ...] = (), id_: str = "e1") -> Removal:
    what = Part(message=MessageId(messages[0])) if messages else Part(fact=FactId(gone[0]))
    return Removal(id=id_, what=what, at=later(100), messages=ids(*messages), facts=facts(*gone))


def a_receipt(erased: Erased) -> Receipt:
    return Receipt(
        id=erased.id,
        user=erased.scope.user,
        what=erased.what,
        counts={"ledger": erased.counts},
        digest=erased.digest,
        requested_at=erased.at,
        at=later(200),
        verified=("ledger",),
    )


def a_job(id_: str, *messages: str) -> Job:
    return Job(id=id_, scope=ANA, kind="learn", payload={"messages": list(messages)}, epoch=0, run_at=later(0))


class ErasureContract:
    async def test_a_whole_user_leaves_nothing_but_the_log(self, ledger: Ledger) -> None:
        await ledger.write(ANA, replace(learned(), session_ttl=60))
        await ledger.append_block(ANA, "profile", "Ana", now=later(0))
        await ledger.enqueue(a_job("j1", "m1"))
        erased = await ledger.erase(ANA, Removal(id="e1", what=WHOLE, at=later(100)))
        assert erased.digest == digest_of(ids("m1"), facts("f1"))
        expected = {"messages": 1, "passages": 1, "facts": 1, "fact_versions": 1, "vectors": 2, "fact_sources": 1}
        expected |= {"fact_history": 1, "sessions": 1, "blocks": 1, "jobs": 1, "embeddings": 0}
        assert {name: erased.counts[name] for name in expected} == expected
        counts = await ledger.counts_of(ANA)
        assert (counts.messages, counts.facts, counts.rows, counts.sessions, counts.blocks) == (0, 0, 0, 0, 0)
        assert counts.jobs == {}
        assert await ledger.scopes("acme") == {}
        assert await ledger.history(ANA, FactId("f1")) == []
        assert await ledger.check() == []

    async def test_others_keep_everything(self, ledger: Ledger) -> None:
        await ledger.write(ANA, learned())
        await ledger.write(BEN, learned())
        before = await ledger.feed(BEN), await ledger.history(BEN, FactId("f1"))
        await ledger.erase(ANA, Removal(id="e1", what=WHOLE, at=later(100)))
        assert (await ledger.feed(BEN), await ledger.history(BEN, FactId("f1"))) == before

    async def test_a_user_who_holds_nothing_can_be_forgotten(self, ledger: Ledger) -> None:
        erased = await ledger.erase(ANA, Removal(id="e1", what=WHOLE, at=later(100)))
        assert erased.counts["messages"] == 0
        assert await ledger.pending_erasures() == [erased]

    async def test_caches_are_told_which_rows_went(self, ledger: Ledger) -> None:
        cache = Cache()
        await ledger.write(ANA, Change(messages=[new_message("m1", passages=2), new_message("m2")]))
        cache.take(await ledger.feed(ANA))
        await ledger.erase(ANA, a_removal("m1"))
        feed = await ledger.feed(ANA, since=cache.version)
        assert feed.removed == [1, 2]
        cache.take(feed)
        assert list(cache.messages) == [3]
        assert feed.versions.rows == 1

    async def test_row_numbers_are_not_used_again(self, ledger: Ledger) -> None:
        await ledger.write(ANA, added("m1", "m2"))
        await ledger.erase(ANA, Removal(id="e1", what=WHOLE, at=later(100)))
        await ledger.write(ANA, added("m1"))
        assert [row.n for row in (await ledger.feed(ANA)).messages] == [3]

    async def test_an_index_is_to_be_fed_from_the_beginning(self, ledger: Ledger) -> None:
        await ledger.write(ANA, added("m1", "m2"))
        await ledger.set_delivered(ANA, "chroma", 1)
        await ledger.erase(ANA, a_removal("m1"))
        assert await ledger.delivered(ANA, "chroma") == 0

    async def test_messages_are_chosen_by_all_that_is_named(self, ledger: Ledger) -> None:
        await ledger.write(ANA, added("m1", at=10), added("m2", at=5), added("m3", session="s2", at=1))
        assert await ledger.chosen(ANA, Part(session=SessionId("s1"))) == ["m2", "m1"]
        assert await ledger.chosen(ANA, Part(before=later(6))) == ["m3", "m2"]
        assert await ledger.chosen(ANA, Part(session=SessionId("s1"), before=later(6))) == ["m2"]
        assert await ledger.chosen(ANA, Part(message=MessageId("m3"), session=SessionId("s1"))) == []
        assert await ledger.chosen(BEN, Part(session=SessionId("s1"))) == []

    async def test_facts_are_known_by_any_message_that_had_to_do_with_them(self, ledger: Ledger) -> None:
        await ledger.write(ANA, learned("f1", "m1"), learned("f2", "m2"), learned("f3", "m3"))
        more = [ended("f1", "m4")], [happened("reinforced", "f3", message="m4")]
        await ledger.write(ANA, Change(messages=[new_message("m4")], sources=more[0], history=more[1]))
        assert await ledger.touched(ANA, ids("m4")) == ["f1", "f3"]
        assert await ledger.touched(ANA, ids("m2", "nobody's")) == ["f2"]
        assert await ledger.touched(BEN, ids("m2")) == []

    async def test_a_fact_that_stays_loses_the_source_and_its_session(self, ledger: Ledger) -> None:
        await ledger.write(ANA, learned())
        await ledger.write(ANA, Change(messages=[new_message("m2", session="s2")], sources=[said("f1", "m2")]))
        version = (await ledger.versions(ANA)).version
        await ledger.erase(ANA, a_removal("m1"))
        (row,) = (await ledger.feed(ANA, since=version)).facts
        assert row.sessions == '["s2"]'
        assert (await ledger.facts_by_id(ANA, facts("f1")))[FactId("f1")].sources == ("m2",)
        assert await ledger.check() == []

    async def test_a_fact_goes_with_every_version(self, ledger: Ledger) -> None:
        await ledger.write(ANA, learned())
        await ledger.write(ANA, Change(closed=[closed(at=60)], versions=[new_version(a_fact(version=2, at=60))]))
        erased = await ledger.erase(ANA, a_removal(gone=("f1",)))
        assert (erased.counts["facts"], erased.counts["fact_versions"], erased.counts["messages"]) == (1, 2, 0)
        assert await ledger.all_versions(ANA) == []
        assert set(await ledger.messages_by_id(ANA, ids("m1"))) == {"m1"}
        assert await ledger.check() == []

    async def test_what_points_to_a_fact_that_is_gone_points_nowhere(self, ledger: Ledger) -> None:
        await ledger.write(ANA, learned("f1", "m1"), learned("f2", "m2"))
        await ledger.write(ANA, Change(closed=[closed("f1", replaced_by="f2")]))
        await ledger.erase(ANA, a_removal("m2", gone=("f2",)))
        assert (await ledger.facts_by_id(ANA, facts("f1")))[FactId("f1")].replaced_by is None

    async def test_a_version_takes_over_the_words_of_another(self, ledger: Ledger) -> None:
        await ledger.write(ANA, learned())
        second = new_version(a_fact(text="uses Shram for accounts", version=2, at=60), seed=5)
        await ledger.write(ANA, Change(closed=[closed(at=60)], versions=[second]))
        removal = replace(a_removal("m9"), reworded=[Reworded(fact=FactId("f1"), version=2, like=1)])
        await ledger.erase(ANA, removal)
        assert [fact.text for fact in await ledger.all_versions(ANA)] == ["uses Shram", "uses Shram"]
        rows = (await ledger.feed(ANA)).facts
        assert [(row.terms, row.vector) for row in rows] == [(b"terms 0", a_vector(0).tobytes())] * 2

    async def test_a_fact_is_opened_again_as_a_next_version(self, ledger: Ledger) -> None:
        await ledger.write(ANA, learned())
        over = replace(a_fact(version=2, at=60), valid_to=later(60))
        change = Change(messages=[new_message("m2")], closed=[closed(at=60)], versions=[new_version(over, seed=3)])
        await ledger.write(ANA, replace(change, sources=[ended("f1", "m2")]))
        again = Reopened(
            fact=FactId("f1"),
            version=3,
            like=1,
            valid_from=None,
            valid_to=None,
            importance=0.5,
            replaced_by=None,
            change="revised",
            reason="because",
        )
        await ledger.erase(ANA, replace(a_removal("m2"), reopened=[again]))
        fact = (await ledger.facts_by_id(ANA, facts("f1")))[FactId("f1")]
        assert (fact.version, fact.valid_to, fact.retracted_at, fact.recorded_at) == (3, None, None, later(100))
        latest = (await ledger.history(ANA, FactId("f1")))[-1]
        assert [(one.change, one.reason, one.message) for one in latest.changes] == [("revised", "because", None)]
        assert await ledger.vectors(ANA, [5]) == {5: a_vector(0).tobytes()}
        assert await ledger.check() == []

    async def test_metadata_and_expiry_of_a_forgotten_message_go(self, ledger: Ledger) -> None:
        fact = replace(a_fact(metadata={"a": 1}), expires_at=later(9))
        await ledger.write(ANA, Change(versions=[new_version(fact)]))
        await ledger.erase(ANA, replace(a_removal("m9"), stripped=facts("f1")))
        stripped = (await ledger.facts_by_id(ANA, facts("f1")))[FactId("f1")]
        assert (stripped.metadata, stripped.expires_at) == ({}, None)

    async def test_reasons_that_quote_are_emptied(self, ledger: Ledger) -> None:
        quoting, other = happened("revised", reason="instead of Uses Magnet"), happened("revised", reason="by hand")
        await ledger.write(ANA, learned(), Change(history=[quoting, other]))
        await ledger.erase(ANA, replace(a_removal("m9"), quotes=["uses magnet"]))
        (version,) = await ledger.history(ANA, FactId("f1"))
        assert [change.reason for change in version.changes] == ["", "", "by hand"]

    async def test_sessions_that_are_named_go_with_their_state(self, ledger: Ledger) -> None:
        for session, at in (("s1", 0), ("s2", 50)):
            await ledger.update_session(ANA, SessionId(session), {"a": 1}, now=later(at), ttl=1000)
        assert await ledger.sessions_before(ANA, later(50)) == ["s1"]
        assert await ledger.sessions_before(BEN, later(50)) == []
        await ledger.erase(ANA, replace(a_removal("m9"), sessions=[SessionId("s1")]))
        assert await ledger.session_info(ANA, SessionId("s1")) is None
        assert await ledger.session_state(ANA, SessionId("s2"), now=later(60)) == {"a": 1}

    async def test_the_vectors_kept_by_text_go(self, ledger: Ledger) -> None:
        await ledger.cache_embeddings("model", {b"digest": a_vector(1)}, now=later(0))
        await ledger.erase(ANA, a_removal("m9"))
        assert await ledger.cached_embeddings("model", [b"digest"]) == {}

    async def test_work_that_was_under_way_can_no_longer_commit(self, ledger: Ledger) -> None:
        await ledger.write(ANA, added("m1"))
        epoch = await ledger.epoch(ANA)
        await ledger.erase(ANA, a_removal("m1"))
        assert await ledger.epoch(ANA) == epoch + 1
        with pytest.raises(Overtaken):
            await ledger.write(ANA, replace(learned(), epoch=epoch))

    async def test_the_queue_loses_what_is_forgotten_and_keeps_the_rest(self, ledger: Ledger) -> None:
        await ledger.write(ANA, added("m1", "m2"))
        for job in (a_job("j1", "m1"), a_job("j2", "m1", "m2"), replace(a_job("j3"), payload={"message": "m1"})):
            await ledger.enqueue(job)
        await ledger.claim(kinds=["learn"], now=later(0), lease=1000, limit=10)
        erased = await ledger.erase(ANA, a_removal("m1"))
        assert erased.counts["jobs"] == 2
        (left,) = await ledger.claim(kinds=["learn"], now=later(1), lease=1000, limit=10)
        assert (left.id, left.payload, left.epoch) == ("j2", {"messages": ["m2"]}, await ledger.epoch(ANA))

    async def test_a_dry_run_counts_the_same_and_changes_nothing(self, ledger: Ledger) -> None:
        await ledger.write(ANA, learned())
        await ledger.enqueue(a_job("j1", "m1"))
        before = await ledger.feed(ANA), await ledger.epoch(ANA), await ledger.counts("acme")
        removal = Removal(id="e1", what=WHOLE, at=later(100))
        tried = await ledger.erase(ANA, removal, dry_run=True)
        assert (await ledger.feed(ANA), await ledger.epoch(ANA), await ledger.counts("acme")) == before
        assert await ledger.pending_erasures() == []
        assert await ledger.erase(ANA, removal) == tried

    async def test_a_decision_on_facts_that_have_changed_is_refused(self, ledger: Ledger) -> None:
        await ledger.write(ANA, learned())
        with pytest.raises(Conflict):
            await ledger.erase(ANA, replace(a_removal("m1"), facts_seen=0))
        assert set(await ledger.messages_by_id(ANA, ids("m1"))) == {"m1"}

    async def test_it_is_pending_until_there_is_a_receipt(self, ledger: Ledger) -> None:
        await ledger.write(ANA, learned())
        erased = await ledger.erase(ANA, replace(a_removal("m1", gone=("f1",)), what=Part(before=later(7))))
        assert await ledger.pending_erasures() == [erased]
        assert await ledger.receipts(ANA) == []
        await ledger.scrub()
        assert await ledger.remains(erased) == 0
        receipt = await ledger.conclude(a_receipt(erased), erased)
        assert receipt == a_receipt(erased)
        assert await ledger.pending_erasures() == []
        assert await ledger.receipts(ANA) == [receipt]
        assert await ledger.receipts(BEN) == []

    async def test_the_first_receipt_counts(self, ledger: Ledger) -> None:
        erased = await ledger.erase(ANA, a_removal("m1"))
        first = await ledger.conclude(a_receipt(erased), erased)
        assert await ledger.conclude(replace(a_receipt(erased), at=later(999)), erased) == first
        assert await ledger.receipts(ANA) == [first]

    async def test_a_whole_tenant_goes_at_once_each_user_with_a_record(self, ledger: Ledger) -> None:
        anonymous, elsewhere = Scope(ANA.tenant), Scope("other", ANA.user)
        for scope in (ANA, BEN, anonymous, elsewhere):
            await ledger.write(scope, learned())
        await ledger.enqueue(replace(a_job("j1", "m1"), scope=Scope(ANA.tenant, "queued only")))
        numbers = count()

        def new_id() -> str:
            return f"e{next(numbers)}"

        tried = await ledger.erase_tenant(ANA.tenant, at=later(100), new_id=new_id, dry_run=True)
        assert len(await ledger.scopes(ANA.tenant)) == 3
        erased = await ledger.erase_tenant(ANA.tenant, at=later(100), new_id=new_id)
        assert [one.counts for one in tried] == [one.counts for one in erased]
        assert {one.scope.user for one in erased} == {ANA.user, BEN.user, None, "queued only"}
        assert [one.id for one in await ledger.pending_erasures()] == ["e4", "e5", "e6", "e7"]
        assert await ledger.scopes(ANA.tenant) == {}
        assert await ledger.jobs(ANA.tenant) == []
        assert (await ledger.counts_of(elsewhere)).messages == 1
        assert [await ledger.remains(one) for one in erased] == [0, 0, 0, 0]
