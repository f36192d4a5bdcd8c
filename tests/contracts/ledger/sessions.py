from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from commonplace.domain.errors import Conflict
from commonplace.domain.values import Json, SessionId, SessionInfo
from commonplace.ports.ledger import Change, Ledger, MessageQuery
from tests.contracts.ledger.values import ANA, BEN, DAY, START, added, any_text, json_values, later, new_message

S1, S2, S3 = SessionId("s1"), SessionId("s2"), SessionId("s3")


async def active(ledger: Ledger, at: float) -> list[str]:
    return [info.id for info in await ledger.active_sessions(ANA, now=later(at))]


class SessionsContract:
    async def test_a_session_that_was_never_used_has_no_state(self, ledger: Ledger) -> None:
        assert await ledger.session_state(ANA, S1, now=START) == {}
        assert await ledger.session_info(ANA, S1) is None
        assert await ledger.active_sessions(ANA, now=START) == []
        await ledger.end_session(ANA, S1, now=START)
        assert await ledger.session_info(ANA, S1) is None
        assert await ledger.scopes("acme") == {}

    async def test_values_are_merged_and_none_removes(self, ledger: Ledger) -> None:
        first: dict[str, Json] = {"a": 1, "b": {"deep": [1]}}
        assert await ledger.update_session(ANA, S1, first, now=START, ttl=DAY) == first
        merged = await ledger.update_session(ANA, S1, {"b": None, "c": "x"}, now=later(1), ttl=DAY)
        assert merged == {"a": 1, "c": "x"}
        assert await ledger.session_state(ANA, S1, now=later(2)) == {"a": 1, "c": "x"}

    async def test_a_state_is_changed_only_if_it_is_what_is_expected(self, ledger: Ledger) -> None:
        with pytest.raises(Conflict, match="'a'"):
            await ledger.update_session(ANA, S1, {"a": 1}, now=START, ttl=DAY, expected={"a": 0})
        assert await ledger.session_info(ANA, S1) is None
        await ledger.update_session(ANA, S1, {"a": {"deep": [1]}}, now=START, ttl=DAY, expected={"a": None})
        changed: list[dict[str, Json]] = [{"a": None}, {"a": {"deep": [2]}}, {"a": {"deep": [1]}, "b": 1}]
        for expected in changed:
            with pytest.raises(Conflict):
                await ledger.update_session(ANA, S1, {"a": 2, "b": 2}, now=START, ttl=DAY, expected=expected)
        state = await ledger.update_session(ANA, S1, {"b": 2}, now=START, ttl=DAY, expected={"a": {"deep": [1]}})
        assert state == {"a": {"deep": [1]}, "b": 2} == await ledger.session_state(ANA, S1, now=START)

    async def test_what_the_caller_changes_in_a_state_is_not_changed_here(self, ledger: Ledger) -> None:
        inner: list[Json] = [1]
        state = await ledger.update_session(ANA, S1, {"list": inner}, now=START, ttl=DAY)
        inner.append(2)
        assert isinstance(state["list"], list)
        state["list"].append(3)
        assert await ledger.session_state(ANA, S1, now=START) == {"list": [1]}

    @given(
        session=any_text,
        state=st.dictionaries(any_text, json_values.filter(lambda value: value is not None), max_size=4),
    )
    @settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
    async def test_any_state_comes_back_equal(self, ledger: Ledger, session: str, state: dict[str, Json]) -> None:
        id_ = SessionId(session)
        await ledger.end_session(ANA, id_, now=START)
        assert await ledger.update_session(ANA, id_, state, now=START, ttl=DAY) == state
        assert await ledger.session_state(ANA, id_, now=START) == state
        assert id_ in {info.id for info in await ledger.active_sessions(ANA, now=START)}

    async def test_a_state_lives_until_its_time_is_over(self, ledger: Ledger) -> None:
        await ledger.update_session(ANA, S1, {"a": 1}, now=START, ttl=60)
        assert await ledger.session_state(ANA, S1, now=later(59.999999)) == {"a": 1}
        assert await ledger.session_state(ANA, S1, now=later(60)) == {}
        assert (await active(ledger, 59), await active(ledger, 60)) == (["s1"], [])

    async def test_touching_keeps_it_alive(self, ledger: Ledger) -> None:
        await ledger.update_session(ANA, S1, {"a": 1}, now=START, ttl=60)
        info = await ledger.touch_session(ANA, S1, now=later(50), ttl=60)
        assert info == SessionInfo(
            id=S1, started_at=START, last_seen=later(50), expires_at=later(110), messages=0, ended_at=None
        )
        assert await ledger.session_state(ANA, S1, now=later(100)) == {"a": 1}

    async def test_touching_creates_it(self, ledger: Ledger) -> None:
        info = await ledger.touch_session(ANA, S1, now=START, ttl=60)
        assert await ledger.session_info(ANA, S1) == info
        assert info.started_at == START

    async def test_an_earlier_touch_does_not_shorten_its_life(self, ledger: Ledger) -> None:
        await ledger.touch_session(ANA, S1, now=later(50), ttl=60)
        info = await ledger.touch_session(ANA, S1, now=later(10), ttl=60)
        assert (info.last_seen, info.expires_at) == (later(50), later(110))

    async def test_an_expired_state_does_not_come_back(self, ledger: Ledger) -> None:
        await ledger.update_session(ANA, S1, {"a": 1}, now=START, ttl=60)
        await ledger.touch_session(ANA, S1, now=later(100), ttl=60)
        assert await ledger.session_state(ANA, S1, now=later(100)) == {}
        await ledger.update_session(ANA, S1, {"b": 2}, now=later(200), ttl=60)
        assert await ledger.session_state(ANA, S1, now=later(200)) == {"b": 2}

    async def test_ending_drops_the_state_and_keeps_the_messages(self, ledger: Ledger) -> None:
        await ledger.write(ANA, replace(added("m1"), session_ttl=DAY))
        await ledger.update_session(ANA, S1, {"a": 1}, now=START, ttl=DAY)
        await ledger.end_session(ANA, S1, now=later(5))
        await ledger.end_session(ANA, S1, now=later(9))
        assert await ledger.session_state(ANA, S1, now=later(6)) == {}
        assert await active(ledger, 6) == []
        info = await ledger.session_info(ANA, S1)
        assert info is not None
        assert (info.ended_at, info.messages) == (later(5), 1)
        assert len((await ledger.messages(ANA, MessageQuery(session=S1))).messages) == 1

    async def test_a_message_opens_an_ended_session_again(self, ledger: Ledger) -> None:
        await ledger.update_session(ANA, S1, {"a": 1}, now=START, ttl=DAY)
        await ledger.end_session(ANA, S1, now=later(5))
        await ledger.write(ANA, replace(added("m1", at=9), session_ttl=DAY))
        assert await active(ledger, 9) == ["s1"]
        assert await ledger.session_state(ANA, S1, now=later(9)) == {}

    async def test_messages_create_their_sessions_and_keep_them_alive(self, ledger: Ledger) -> None:
        change = Change(
            messages=[new_message("m1"), new_message("m2", session="s2"), new_message("m3", session=None)],
            session_ttl=60,
        )
        await ledger.write(ANA, change)
        await ledger.write(ANA, replace(added("m4", "m5", at=50), session_ttl=60))
        info = await ledger.session_info(ANA, S1)
        assert info == SessionInfo(
            id=S1, started_at=START, last_seen=later(50), expires_at=later(110), messages=3, ended_at=None
        )
        assert await active(ledger, 55) == ["s1", "s2"]
        assert await active(ledger, 70) == ["s1"]

    async def test_a_message_that_was_there_keeps_nothing_alive(self, ledger: Ledger) -> None:
        await ledger.write(ANA, replace(added("m1"), session_ttl=60))
        await ledger.write(ANA, replace(added("m1", at=50), session_ttl=60))
        assert await active(ledger, 70) == []

    async def test_active_sessions_come_latest_first(self, ledger: Ledger) -> None:
        for session, at in ((S1, 10), (S2, 30), (S3, 20)):
            await ledger.touch_session(ANA, session, now=later(at), ttl=DAY)
        await ledger.touch_session(BEN, S1, now=later(40), ttl=DAY)
        assert await active(ledger, 50) == ["s2", "s3", "s1"]

    async def test_cleaning_drops_the_states_that_have_expired(self, ledger: Ledger) -> None:
        await ledger.update_session(ANA, S1, {"a": 1}, now=START, ttl=10)
        await ledger.update_session(BEN, S1, {"a": 1}, now=START, ttl=10)
        await ledger.update_session(ANA, S2, {"a": 1}, now=START, ttl=99)
        await ledger.touch_session(ANA, S3, now=START, ttl=10)
        assert await ledger.clean_sessions(now=later(10)) == 2
        assert await ledger.clean_sessions(now=later(10)) == 0
        assert await ledger.session_state(ANA, S2, now=later(10)) == {"a": 1}
        assert await ledger.session_info(ANA, S1) is not None
