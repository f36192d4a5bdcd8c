from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from commonplace.domain.errors import InvalidInput
from commonplace.domain.scope import Scope
from commonplace.domain.values import Json, Message, MessageId, SessionId
from commonplace.ports.ledger import Change, Ledger, MessageQuery, NewMessage
from tests.contracts.ledger.values import (
    ANA,
    BEN,
    START,
    a_message,
    added,
    an_entry,
    any_text,
    json_values,
    later,
    new_message,
)


async def paged(ledger: Ledger, query: MessageQuery) -> list[str]:
    """Return the ids of all pages, in order."""
    ids: list[str] = []
    while True:
        page = await ledger.messages(ANA, query)
        assert len(page.messages) <= query.limit
        ids += [message.id for message in page.messages]
        if page.next is None:
            return ids
        query = replace(query, before=page.next)


class MessagesContract:
    async def test_a_message_comes_back_as_it_was_said(self, ledger: Ledger) -> None:
        message = Message(
            id=MessageId("m1"),
            role="assistant",
            text="Magnet is a window manager.",
            at=later(-3600.000001),
            recorded_at=START,
            session=SessionId("s1"),
            name="Ada",
            agent="helper",
            metadata={"topic": "work", "stars": 4, "nested": {"a": [1, 2.5, None, True]}},
            expires_at=later(9),
        )
        await ledger.write(ANA, Change(messages=[NewMessage(message=message, entries=(an_entry(),))]))
        assert await ledger.messages_by_id(ANA, [MessageId("m1")]) == {"m1": message}
        assert (await ledger.messages(ANA, MessageQuery())).messages == [message]

    @given(text=any_text, id_=any_text, session=any_text, name=any_text, tenant=any_text, user=any_text.filter(bool))
    @settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
    async def test_any_text_comes_back_equal(
        self, ledger: Ledger, text: str, id_: str, session: str, name: str, tenant: str, user: str
    ) -> None:
        scope = Scope(tenant, user)
        message = replace(a_message(id_, text, session=session), name=name, agent=name)
        known = await ledger.write(scope, Change(messages=[NewMessage(message=message, entries=(an_entry(),))]))
        stored = (await ledger.messages_by_id(scope, [message.id]))[message.id]
        assert known or stored == message
        assert scope in await ledger.scopes(tenant)
        rows = (await ledger.feed(scope)).messages
        assert [(row.session, row.name) for row in rows if row.id == id_] == [(stored.session, stored.name)]
        in_session = (await ledger.messages(scope, MessageQuery(session=stored.session, limit=1000))).messages
        assert stored in in_session

    @given(metadata=st.dictionaries(any_text, json_values, max_size=4))
    @settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
    async def test_any_metadata_comes_back_equal(self, ledger: Ledger, metadata: dict[str, Json]) -> None:
        id_ = f"m{(await ledger.versions(ANA)).version}"
        message = a_message(id_, metadata=metadata)
        await ledger.write(ANA, Change(messages=[NewMessage(message=message, entries=(an_entry(),))]))
        assert (await ledger.messages_by_id(ANA, [message.id]))[message.id].metadata == metadata

    async def test_a_text_of_a_megabyte_comes_back_equal(self, ledger: Ledger) -> None:
        text = "péché \U0001f351 " * 100_000
        await ledger.write(ANA, Change(messages=[new_message("m1", text)]))
        assert (await ledger.messages_by_id(ANA, [MessageId("m1")]))[MessageId("m1")].text == text

    async def test_what_the_caller_changes_later_is_not_changed_here(self, ledger: Ledger) -> None:
        inner: list[Json] = [1]
        metadata: dict[str, Json] = {"list": inner}
        await ledger.write(ANA, Change(messages=[new_message("m1", metadata=metadata)]))
        inner.append(2)
        metadata["more"] = True
        assert (await ledger.messages_by_id(ANA, [MessageId("m1")]))[MessageId("m1")].metadata == {"list": [1]}

    async def test_ids_that_are_not_there_are_left_out(self, ledger: Ledger) -> None:
        assert await ledger.messages_by_id(ANA, [MessageId("m1")]) == {}
        await ledger.write(ANA, added("m1", "m2"))
        asked = [MessageId("m2"), MessageId("m9"), MessageId("m1"), MessageId("m2")]
        assert set(await ledger.messages_by_id(ANA, asked)) == {"m1", "m2"}
        assert await ledger.messages_by_id(ANA, []) == {}

    async def test_messages_come_newest_first_by_when_they_were_said(self, ledger: Ledger) -> None:
        for id_, at in (("m1", 20), ("m2", 10), ("m3", 30), ("m4", 20)):
            await ledger.write(ANA, added(id_, at=at))
        assert await paged(ledger, MessageQuery()) == ["m3", "m4", "m1", "m2"]

    @pytest.mark.parametrize("limit", [1, 2, 3, 7, 20])
    async def test_pages_hold_every_message_once(self, ledger: Ledger, limit: int) -> None:
        moments = [0, 5, 5, 5, 3, 9, 9, 1, 0, 5, 2, 7, 7]
        for n, at in enumerate(moments):
            await ledger.write(ANA, added(f"m{n}", at=at, session="even" if n % 2 == 0 else "odd"))
        newest_first = sorted(range(len(moments)), key=lambda n: (moments[n], n), reverse=True)
        assert await paged(ledger, MessageQuery(limit=limit)) == [f"m{n}" for n in newest_first]
        even = [f"m{n}" for n in newest_first if n % 2 == 0]
        assert await paged(ledger, MessageQuery(limit=limit, session=SessionId("even"))) == even

    async def test_a_page_is_not_disturbed_by_newer_messages(self, ledger: Ledger) -> None:
        await ledger.write(ANA, Change(messages=[new_message(f"m{n}", at=n) for n in range(6)]))
        first = await ledger.messages(ANA, MessageQuery(limit=3))
        await ledger.write(ANA, added("m6", at=6))
        second = await ledger.messages(ANA, MessageQuery(limit=3, before=first.next))
        assert [message.id for message in second.messages] == ["m2", "m1", "m0"]
        assert second.next is None

    async def test_a_session_that_is_not_there_has_no_messages(self, ledger: Ledger) -> None:
        await ledger.write(ANA, added("m1", session=None))
        assert await paged(ledger, MessageQuery(session=SessionId("s1"))) == []
        assert await paged(ledger, MessageQuery()) == ["m1"]

    @pytest.mark.parametrize("limit", [0, -1])
    async def test_a_limit_below_one_is_refused(self, ledger: Ledger, limit: int) -> None:
        with pytest.raises(InvalidInput, match=str(limit)):
            await ledger.messages(ANA, MessageQuery(limit=limit))

    async def test_the_messages_beside_one_are_those_of_its_session(self, ledger: Ledger) -> None:
        for at, id_ in enumerate(("one", "two", "three")):
            await ledger.write(ANA, added(id_, session="s", at=at))
        await ledger.write(ANA, added("late", session="s", at=0.5), added("elsewhere", session="t", at=1))
        await ledger.write(ANA, added("alone", session=None, at=1))
        ids = [MessageId(id_) for id_ in ("one", "late", "three", "elsewhere", "alone", "nobody")]
        assert await ledger.beside(ANA, ids) == {
            "one": (None, "late"),
            "late": ("one", "two"),
            "three": ("two", None),
            "elsewhere": (None, None),
        }
        assert await ledger.beside(BEN, ids) == {}
