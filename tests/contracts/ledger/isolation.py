import pytest

from commonplace.domain.errors import InvalidInput, NotFound
from commonplace.domain.scope import Scope
from commonplace.domain.values import Block, FactId, MessageId, SessionId
from commonplace.ports.ledger import Change, Ledger, MessageQuery, Versions
from tests.contracts.ledger.values import (
    ANA,
    BEN,
    NOBODY,
    OTHER_ANA,
    START,
    a_vector,
    added,
    closed,
    learned,
    new_message,
    said,
)

F1, M1, S1 = FactId("f1"), MessageId("m1"), SessionId("s1")
OTHERS = [BEN, NOBODY, OTHER_ANA, Scope("", "ana"), Scope("acme", "Ana"), Scope("acme", "None"), Scope("acme", "*")]


class IsolationContract:
    @pytest.mark.parametrize("other", OTHERS, ids=repr)
    async def test_nobody_sees_what_another_holds(self, ledger: Ledger, other: Scope) -> None:
        await ledger.write(ANA, learned())
        await ledger.set_block(ANA, Block(name="profile", text="Ana", order=0, updated_at=START))
        await ledger.update_session(ANA, S1, {"a": 1}, now=START, ttl=60)
        await ledger.set_delivered(ANA, "chroma", 1)
        seen = [
            await ledger.messages_by_id(other, [M1]),
            (await ledger.messages(other, MessageQuery())).messages,
            (await ledger.messages(other, MessageQuery(session=S1))).messages,
            await ledger.facts_by_id(other, [F1]),
            await ledger.versions_by_id(other, [(F1, 1)]),
            await ledger.believed(other),
            await ledger.believed(other, attributes=[("user", "uses")]),
            await ledger.all_versions(other),
            await ledger.history(other, F1),
            await ledger.taught(other, [M1]),
            await ledger.sources(other, F1),
            await ledger.blocks(other),
            await ledger.session_state(other, S1, now=START),
            await ledger.active_sessions(other, now=START),
            await ledger.vectors(other, [1, 2]),
            (await ledger.feed(other)).messages,
            (await ledger.feed(other)).facts,
        ]
        assert not any(seen)
        assert await ledger.session_info(other, S1) is None
        assert await ledger.versions(other) == Versions(0, 0, 0, 0)
        assert await ledger.delivered(other, "chroma") == 0
        assert not await ledger.delete_block(other, "profile")

    @pytest.mark.parametrize("other", OTHERS, ids=repr)
    async def test_nobody_changes_what_another_holds(self, ledger: Ledger, other: Scope) -> None:
        await ledger.write(ANA, learned())
        before = await ledger.feed(ANA)
        for change in (
            Change(closed=[closed()]),
            Change(sources=[said()]),
            Change(messages=[new_message("m2")], sources=[said("f1", "m2")]),
        ):
            with pytest.raises(NotFound):
                await ledger.write(other, change)
        await ledger.set_vectors(other, {1: a_vector(7)})
        await ledger.end_session(other, S1, now=START)
        assert await ledger.feed(ANA) == before

    @pytest.mark.parametrize("other", OTHERS, ids=repr)
    async def test_the_same_ids_are_different_things_for_different_users(self, ledger: Ledger, other: Scope) -> None:
        await ledger.write(ANA, Change(messages=[new_message("m1", "Ana's")]))
        assert await ledger.write(other, Change(messages=[new_message("m1", "theirs")])) == frozenset()
        assert (await ledger.messages_by_id(ANA, [M1]))[M1].text == "Ana's"
        assert (await ledger.messages_by_id(other, [M1]))[M1].text == "theirs"
        await ledger.write(ANA, learned("f1", "m2", text="hers"))
        await ledger.write(other, learned("f1", "m2", text="another"))
        await ledger.write(ANA, Change(closed=[closed()]))
        assert [fact.text for fact in await ledger.believed(other)] == ["another"]
        assert await ledger.believed(ANA) == []

    async def test_an_empty_user_name_is_not_the_anonymous_user(self, ledger: Ledger) -> None:
        await ledger.write(NOBODY, learned())
        with pytest.raises(InvalidInput, match="user=''"):
            await ledger.feed(Scope("acme", ""))
        with pytest.raises(InvalidInput, match="user=''"):
            await ledger.write(Scope("acme", ""), learned())

    @pytest.mark.parametrize("number", [0, -1, -(2**32), 2**32 + 1, 2**33 + 1, 3 * 2**32 + 1, 2**40, 2**63 - 1])
    async def test_no_row_number_reaches_the_rows_of_another(self, ledger: Ledger, number: int) -> None:
        scopes = [Scope("acme", f"u{n}") for n in range(5)]
        for scope in scopes:
            await ledger.write(scope, learned())
        before = [await ledger.feed(scope) for scope in scopes]
        for scope in scopes:
            assert await ledger.vectors(scope, [number]) == {}
            await ledger.set_vectors(scope, {number: a_vector(7)})
        after = [await ledger.feed(scope) for scope in scopes]
        assert [(feed.messages, feed.facts) for feed in after] == [(feed.messages, feed.facts) for feed in before]

    @pytest.mark.parametrize("since", [-1, -(2**32), -(2**63)])
    async def test_no_version_reaches_the_rows_of_another(self, ledger: Ledger, since: int) -> None:
        for n in range(3):
            await ledger.write(Scope("acme", f"u{n}"), learned())
        last = Scope("acme", "u2")
        assert await ledger.feed(last, since=since) == await ledger.feed(last)

    async def test_sessions_and_blocks_of_the_same_name_are_separate(self, ledger: Ledger) -> None:
        for scope in (ANA, NOBODY, OTHER_ANA):
            await ledger.append_block(scope, "profile", repr(scope), now=START)
            await ledger.update_session(scope, S1, {"who": repr(scope)}, now=START, ttl=60)
        await ledger.end_session(ANA, S1, now=START)
        for scope in (NOBODY, OTHER_ANA):
            assert [block.text for block in await ledger.blocks(scope)] == [repr(scope)]
            assert await ledger.session_state(scope, S1, now=START) == {"who": repr(scope)}

    async def test_writing_for_one_raises_no_version_of_another(self, ledger: Ledger) -> None:
        await ledger.write(ANA, added("m1"))
        before = await ledger.versions(ANA)
        for scope in OTHERS:
            await ledger.write(scope, learned())
        assert await ledger.versions(ANA) == before
        numbers = {(await ledger.versions(scope)).number for scope in (ANA, *OTHERS)}
        assert len(numbers) == 1 + len(OTHERS)
