from dataclasses import replace

import pytest

from commonplace.care.lines import line_of, record_of
from commonplace.domain.archive import KeptMessage, KeptSummary
from commonplace.domain.errors import Conflict, NotFound, Overtaken
from commonplace.domain.receipts import Part
from commonplace.domain.values import EXTRACTIVE, MessageId, SessionId, Summary, SummaryId
from commonplace.ports.erasure import Removal
from commonplace.ports.ledger import Change, Ledger, NewSummary
from tests.contracts.ledger.values import ANA, BEN, START, a_vector, added, an_entry, later

S1 = SessionId("s1")


def a_summary(id_: str = "sum", *messages: str, session: str = "s1", text: str = "They talked of the sea.") -> Summary:
    return Summary(
        id=SummaryId(id_),
        session=SessionId(session),
        text=text,
        messages=tuple(MessageId(one) for one in messages),
        since=START,
        until=later(5),
        made_at=later(9),
        author=EXTRACTIVE,
        expires_at=later(100),
    )


def summarised(summary: Summary, *, epoch: int | None = None) -> Change:
    return Change(summaries=[NewSummary(summary=summary, entry=an_entry(7))], epoch=epoch)


class SummariesContract:
    async def test_a_summary_comes_back_with_the_messages_it_covers(self, ledger: Ledger) -> None:
        await ledger.write(ANA, added("m2", at=2), added("m1", at=1), added("m3", at=3))
        summary = a_summary("sum", "m1", "m2", text="They talked \0 of the sea \ud800.")
        await ledger.write(ANA, summarised(summary))
        assert await ledger.summaries(ANA) == [summary]
        assert await ledger.summaries(ANA, S1) == [summary]
        assert await ledger.summaries(ANA, SessionId("other")) == []
        assert await ledger.summaries_by_id(ANA, [SummaryId("sum"), SummaryId("x")]) == {"sum": summary}
        assert (await ledger.shown(ANA, [], [], [SummaryId("sum")])).summaries == {"sum": summary}
        assert await ledger.covering(ANA, [MessageId("m2"), MessageId("m1")]) == [summary]
        assert await ledger.covering(ANA, [MessageId("m3")]) == []
        assert await ledger.summaries(BEN) == []
        assert await ledger.summaries_by_id(BEN, [SummaryId("sum")]) == {}
        assert await ledger.covering(BEN, [MessageId("m1")]) == []

    async def test_what_no_summary_covers_is_told_by_session(self, ledger: Ledger) -> None:
        await ledger.write(ANA, added("m1", at=1), added("m2", at=2), added("n1", session="s2", at=3))
        await ledger.write(ANA, added("alone", session=None))
        assert [one[:2] for one in await ledger.unsummarised(ANA)] == [("s1", 2), ("s2", 1)]
        await ledger.write(ANA, summarised(a_summary("sum", "m1")))
        ((session, messages, characters, until),) = await ledger.unsummarised(ANA, S1)
        assert (session, messages, characters, until) == ("s1", 1, len("I use Shram"), later(2))
        assert [one.id for one in await ledger.uncovered(ANA, S1, limit=9)] == ["m2"]
        assert await ledger.uncovered(BEN, S1, limit=9) == []
        assert await ledger.unsummarised(BEN) == []

    async def test_a_message_is_covered_once(self, ledger: Ledger) -> None:
        await ledger.write(ANA, added("m1", "m2"))
        await ledger.write(ANA, summarised(a_summary("one", "m1")))
        before = await ledger.versions(ANA)
        with pytest.raises(Conflict):
            await ledger.write(ANA, summarised(a_summary("two", "m2", "m1")))
        with pytest.raises(NotFound):
            await ledger.write(ANA, summarised(a_summary("two", "m2", "nobody's")))
        with pytest.raises(NotFound):
            await ledger.write(BEN, summarised(a_summary("two", "m2")))
        assert await ledger.versions(ANA) == before
        assert [one.id for one in await ledger.summaries(ANA)] == ["one"]

    async def test_the_indexes_are_fed_a_summary(self, ledger: Ledger) -> None:
        await ledger.write(ANA, added("m1"))
        seen = (await ledger.versions(ANA)).version
        await ledger.write(ANA, summarised(a_summary("sum", "m1")))
        feed = await ledger.feed(ANA, since=seen)
        (row,) = feed.facts
        assert (row.id, row.kind, row.sessions) == ("sum", "summary", '["s1"]')
        assert row.vector is not None
        assert (await ledger.versions(ANA)).rows == 2
        assert [one.id for one in (await ledger.slab(ANA, after=1, limit=9)).facts] == ["sum"]
        assert [one.id for one in (await ledger.rows(ANA, [row.n])).facts] == ["sum"]
        await ledger.set_vectors(ANA, {row.n: a_vector(9)})
        (again,) = (await ledger.feed(ANA, since=feed.versions.version)).facts
        assert (again.n, again.vector) == (row.n, a_vector(9).tobytes())

    async def test_no_fact_is_told_of_a_summary(self, ledger: Ledger) -> None:
        await ledger.write(ANA, added("m1"))
        await ledger.write(ANA, summarised(a_summary("sum", "m1")))
        assert not await ledger.believed(ANA)
        assert not await ledger.all_versions(ANA)
        assert not await ledger.taught(ANA, [MessageId("m1")])

    @pytest.mark.parametrize("what", [Part(message=MessageId("m1")), Part(session=S1), Part()], ids=repr)
    async def test_a_summary_goes_with_any_of_its_messages(self, ledger: Ledger, what: Part) -> None:
        await ledger.write(ANA, added("m1", "m2"), added("n1", "n2", session="s2"))
        await ledger.write(ANA, summarised(a_summary("sum", "m1", "m2")))
        await ledger.write(ANA, summarised(a_summary("kept", "n1", "n2", session="s2")))
        (row,) = [one for one in (await ledger.feed(ANA)).facts if one.id == "sum"]
        seen = (await ledger.versions(ANA)).version
        messages = () if what.whole else await ledger.chosen(ANA, what)
        erased = await ledger.erase(ANA, Removal(id="e", what=what, at=later(20), messages=messages))
        assert erased.counts["summaries"] == (2 if what.whole else 1)
        assert await ledger.remains(erased) == 0
        assert [one.id for one in await ledger.summaries(ANA)] == ([] if what.whole else ["kept"])
        feed = await ledger.feed(ANA, since=seen)
        assert row.n in feed.removed
        assert (await ledger.versions(ANA)).rows == len((await ledger.feed(ANA)).messages) + (0 if what.whole else 1)
        assert not await ledger.check()

    async def test_a_summary_that_a_forget_has_overtaken_is_not_written(self, ledger: Ledger) -> None:
        await ledger.write(ANA, added("m1", "m2"))
        epoch = await ledger.epoch(ANA)
        removal = Removal(id="e", what=Part(message=MessageId("m1")), at=later(1), messages=[MessageId("m1")])
        await ledger.erase(ANA, removal)
        with pytest.raises(Overtaken):
            await ledger.write(ANA, summarised(replace(a_summary("sum", "m2")), epoch=epoch))
        assert await ledger.summaries(ANA) == []

    async def test_a_summary_is_in_the_archive_and_can_be_written_again(self, ledger: Ledger) -> None:
        await ledger.write(ANA, added("m1", "m2"))
        await ledger.write(ANA, summarised(a_summary("sum", "m1", "m2")))
        held = [
            record
            async for batch in ledger.read_archive(ANA)
            for record in batch
            if isinstance(record, KeptMessage | KeptSummary)
        ]
        assert isinstance(held[-1], KeptSummary)
        assert held[-1].summary == a_summary("sum", "m1", "m2")
        first = await ledger.write_archive(BEN, held)
        again = await ledger.write_archive(BEN, held)
        assert (first.added["summaries"], again.known["summaries"]) == (1, 1)
        assert await ledger.summaries(BEN) == await ledger.summaries(ANA)
        other = replace(held[-1], summary=replace(held[-1].summary, id=SummaryId("other")))
        assert (await ledger.write_archive(BEN, [other])).loose["summaries"] == 1
        assert record_of(line_of(held[-1])) == held[-1]
