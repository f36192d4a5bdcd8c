from dataclasses import replace

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from commonplace.domain.scope import Scope
from commonplace.domain.values import Fact, FactId, FactVersion, Json, MessageId
from commonplace.ports.ledger import Change, Ledger, Reinforced
from tests.contracts.ledger.values import (
    ANA,
    START,
    a_fact,
    added,
    any_text,
    closed,
    ended,
    happened,
    json_values,
    later,
    learned,
    new_message,
    new_version,
    said,
)

F1 = FactId("f1")


class FactsContract:
    async def test_a_fact_comes_back_with_all_it_has(self, ledger: Ledger) -> None:
        fact = Fact(
            id=F1,
            text="uses Shram",
            kind="preference",
            confidence=0.875,
            importance=0.25,
            said_at=later(-10),
            valid_from=later(-20),
            valid_to=later(20),
            recorded_at=START,
            metadata={"topic": "work"},
            expires_at=later(99),
            version=1,
            subject="user",
            attribute="uses",
            value="Shram",
            extractor="rules/1",
        )
        await ledger.write(ANA, Change(versions=[new_version(fact)]))
        assert await ledger.facts_by_id(ANA, [F1]) == {F1: fact}
        assert await ledger.versions_by_id(ANA, [(F1, 1), (F1, 2)]) == {(F1, 1): fact}
        assert await ledger.believed(ANA) == [fact]
        assert await ledger.all_versions(ANA) == [fact]

    @given(
        text=any_text, id_=any_text, subject=any_text, attribute=any_text, reason=any_text, user=any_text.filter(bool)
    )
    @settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
    async def test_any_text_comes_back_equal_in_a_fact(
        self, ledger: Ledger, text: str, id_: str, subject: str, attribute: str, reason: str, user: str
    ) -> None:
        scope = Scope("facts", user)
        unique = f"{(await ledger.counts('facts')).facts} {id_}"
        fact = replace(a_fact(unique, text), subject=subject, attribute=attribute, value=text, extractor=reason)
        change = happened("remembered", unique, reason=reason)
        await ledger.write(scope, Change(versions=[new_version(fact)], history=[change]))
        assert await ledger.history(scope, fact.id) == [FactVersion(fact=fact, changes=(change,))]
        assert fact in await ledger.believed(scope, attributes=[(subject, attribute)])

    @given(metadata=st.dictionaries(any_text, json_values, max_size=4))
    @settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
    async def test_any_metadata_of_a_fact_comes_back_equal(self, ledger: Ledger, metadata: dict[str, Json]) -> None:
        id_ = f"f{(await ledger.versions(ANA)).version}"
        await ledger.write(ANA, Change(versions=[new_version(a_fact(id_, metadata=metadata))]))
        assert (await ledger.facts_by_id(ANA, [FactId(id_)]))[FactId(id_)].metadata == metadata

    async def test_a_fact_names_the_messages_that_taught_it_and_not_those_that_ended_it(self, ledger: Ledger) -> None:
        await ledger.write(ANA, learned())
        await ledger.write(
            ANA, Change(messages=[new_message("m2"), new_message("m3")], sources=[said("f1", "m3"), ended("f1", "m2")])
        )
        assert (await ledger.facts_by_id(ANA, [F1]))[F1].sources == ("m1", "m3")
        assert await ledger.sources(ANA, F1) == [said("f1", "m1"), said("f1", "m3"), ended("f1", "m2")]

    async def test_sources_come_from_the_change_and_not_from_the_fact(self, ledger: Ledger) -> None:
        await ledger.write(ANA, Change(versions=[new_version(replace(a_fact(), sources=(MessageId("m9"),)))]))
        assert (await ledger.facts_by_id(ANA, [F1]))[F1].sources == ()

    async def test_the_same_source_twice_is_one_source(self, ledger: Ledger) -> None:
        await ledger.write(ANA, learned())
        await ledger.write(ANA, Change(sources=[said(), said(start=3)]))
        assert await ledger.sources(ANA, F1) == [said(), said(start=3)]
        assert (await ledger.facts_by_id(ANA, [F1]))[F1].sources == ("m1",)

    async def test_a_closed_version_says_since_when_and_what_replaced_it(self, ledger: Ledger) -> None:
        await ledger.write(ANA, learned())
        await ledger.write(
            ANA, Change(closed=[closed("f1", at=60, replaced_by="f2")], versions=[new_version(a_fact("f2", at=60))])
        )
        fact = (await ledger.facts_by_id(ANA, [F1]))[F1]
        assert (fact.retracted_at, fact.replaced_by) == (later(60), "f2")
        assert [fact.id for fact in await ledger.believed(ANA)] == ["f2"]
        assert [fact.id for fact in await ledger.all_versions(ANA)] == ["f1", "f2"]

    async def test_every_version_can_be_read_and_the_latest_is_the_fact(self, ledger: Ledger) -> None:
        await ledger.write(ANA, learned())
        second = a_fact(version=2, text="used Shram", at=60)
        await ledger.write(ANA, Change(closed=[closed(at=60)], versions=[new_version(second)]))
        await ledger.write(ANA, Change(closed=[closed(version=2, at=90)]))
        latest = (await ledger.facts_by_id(ANA, [F1]))[F1]
        assert (latest.version, latest.text, latest.retracted_at) == (2, "used Shram", later(90))
        versions = await ledger.versions_by_id(ANA, [(F1, 1), (F1, 2), (FactId("f2"), 1)])
        assert {key: fact.retracted_at for key, fact in versions.items()} == {(F1, 1): later(60), (F1, 2): later(90)}
        assert [fact.sources for fact in await ledger.all_versions(ANA)] == [("m1",), ("m1",)]
        assert await ledger.believed(ANA) == []

    async def test_what_is_to_be_shown_is_read_at_once(self, ledger: Ledger) -> None:
        await ledger.write(ANA, learned())
        messages, keys = [MessageId("m1"), MessageId("none")], [(F1, 1), (F1, 9)]
        shown = await ledger.shown(ANA, messages, keys)
        assert shown.messages == await ledger.messages_by_id(ANA, messages)
        assert shown.facts == await ledger.versions_by_id(ANA, keys)
        assert shown.taught == await ledger.taught(ANA, messages)
        assert [len(part) for part in shown] == [1, 1, 1, 0]
        assert await ledger.shown(Scope("t", "nobody"), messages, keys) == ({}, {}, {}, {})

    async def test_believed_facts_are_found_by_their_exact_words(self, ledger: Ledger) -> None:
        odd = replace(a_fact("f2"), text="Ana likes tea, \x00 or \ud800.")
        await ledger.write(ANA, Change(versions=[new_version(a_fact("f1")), new_version(odd)]))
        assert [fact.id for fact in await ledger.saying(ANA, odd.text)] == ["f2"]
        assert await ledger.saying(ANA, "ana likes tea") == []
        assert await ledger.saying(Scope("t", "nobody"), odd.text) == []

    async def test_a_closed_fact_can_be_believed_again(self, ledger: Ledger) -> None:
        await ledger.write(ANA, learned())
        await ledger.write(ANA, Change(closed=[closed(at=60)], history=[happened("retracted", at=60)]))
        await ledger.write(
            ANA,
            Change(versions=[new_version(a_fact(version=2, at=90))], history=[happened("restored", version=2, at=90)]),
        )
        assert [(fact.id, fact.version) for fact in await ledger.believed(ANA)] == [("f1", 2)]

    async def test_a_version_may_be_written_as_closed(self, ledger: Ledger) -> None:
        await ledger.write(ANA, learned())
        past = a_fact(version=2, retracted_at=later(5))
        await ledger.write(ANA, Change(versions=[new_version(past)]))
        assert [fact.version for fact in await ledger.believed(ANA)] == [1]

    async def test_reinforcing_changes_the_confidence_and_nothing_else(self, ledger: Ledger) -> None:
        await ledger.write(ANA, learned())
        before = (await ledger.facts_by_id(ANA, [F1]))[F1]
        await ledger.write(ANA, Change(reinforced=[Reinforced(fact=F1, version=1, confidence=0.75)]))
        assert await ledger.facts_by_id(ANA, [F1]) == {F1: replace(before, confidence=0.75)}

    async def test_believed_facts_come_in_the_order_of_writing_and_by_attribute(self, ledger: Ledger) -> None:
        facts = [
            a_fact(f"f{n}", attribute=attribute) for n, attribute in enumerate(["home", "uses", "", "uses", "home"])
        ]
        await ledger.write(ANA, Change(versions=[new_version(fact) for fact in facts]))
        await ledger.write(ANA, Change(closed=[closed("f3")]))

        async def ids(*attributes: tuple[str, str]) -> list[str]:
            return [fact.id for fact in await ledger.believed(ANA, attributes=attributes)]

        assert [fact.id for fact in await ledger.believed(ANA)] == ["f0", "f1", "f2", "f4"]
        assert await ids(("user", "uses"), ("user", "home")) == ["f0", "f1", "f4"]
        assert await ids(("user", "")) == ["f2"]
        assert await ids(("somebody else", "uses")) == []
        assert await ids() == []

    async def test_history_tells_what_led_to_each_version(self, ledger: Ledger) -> None:
        await ledger.write(ANA, learned())
        was_reinforced = happened("reinforced", at=10, message="m2", reason="said again")
        await ledger.write(ANA, Change(messages=[new_message("m2")], history=[was_reinforced]))
        was_ended = happened("ended", version=2, at=60, message="m3", reason="no longer")
        await ledger.write(
            ANA,
            Change(
                messages=[new_message("m3")],
                closed=[closed(at=60)],
                versions=[new_version(a_fact(version=2, at=60))],
                sources=[ended("f1", "m3")],
                history=[was_ended],
            ),
        )
        first, second = await ledger.history(ANA, F1)
        assert (first.fact.version, second.fact.version) == (1, 2)
        assert first.changes == (happened("learned", message="m1"), was_reinforced)
        assert second.changes == (was_ended,)
        assert await ledger.history(ANA, FactId("f9")) == []

    async def test_a_message_knows_what_it_taught(self, ledger: Ledger) -> None:
        await ledger.write(ANA, learned())
        await ledger.write(
            ANA,
            Change(
                messages=[new_message("m2")],
                versions=[new_version(a_fact("f2"))],
                sources=[said("f2", "m1"), said("f2", "m2"), ended("f1", "m2")],
            ),
        )
        await ledger.write(ANA, Change(closed=[closed()], versions=[new_version(a_fact(version=2, at=60))]))
        taught = await ledger.taught(ANA, [MessageId("m1"), MessageId("m2"), MessageId("m9")])
        shown = {message: [(fact.id, fact.version) for fact in facts] for message, facts in taught.items() if facts}
        assert shown == {"m1": [("f1", 2), ("f2", 1)], "m2": [("f2", 1)]}

    async def test_facts_that_are_not_there_are_left_out(self, ledger: Ledger) -> None:
        assert await ledger.facts_by_id(ANA, [F1]) == {}
        assert await ledger.versions_by_id(ANA, [(F1, 1)]) == {}
        assert await ledger.sources(ANA, F1) == []
        await ledger.write(ANA, added("m1"))
        assert await ledger.facts_by_id(ANA, [F1]) == {}
        assert await ledger.sources(ANA, F1) == []
        assert await ledger.believed(ANA) == []
