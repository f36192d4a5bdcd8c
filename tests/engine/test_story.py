"""The story that must always work, on every path; and what the engine promises around it."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from commonplace.adapters.hashing import HashEmbedder
from commonplace.domain.errors import Closed, EmbedderMismatch, InvalidInput
from commonplace.memory import AsyncMemory
from commonplace.sync import Memory
from tests.backends import Backend

TOOLS = "What productivity tools do I use?"
PATHS = ("exact", "auto", "chroma")


def facts_in(hits: list[Any]) -> list[str]:
    return sorted(hit.text for hit in hits if hit.kind != "message")


pytestmark = pytest.mark.backends("ledgers")


@pytest.fixture(params=PATHS)
async def kept(request: pytest.FixtureRequest, backend: Backend, tmp_path: Path) -> AsyncIterator[AsyncMemory]:
    place = {**backend.at(tmp_path), "index": request.param}
    async with AsyncMemory.open(**place, embedder=HashEmbedder()) as memory:
        yield memory


@pytest.mark.backends("pairwise")
async def test_it_changes_its_mind_when_the_user_does(backend: Backend, tmp_path: Path) -> None:
    async with AsyncMemory.open(**backend.at(tmp_path), embedder=HashEmbedder()) as kept:
        await tells_the_story(kept)


async def tells_the_story(kept: AsyncMemory) -> None:
    told = await kept.add("I use Shram and Magnet as productivity tools", user="u1", session="s1")
    both = ["User uses Magnet as a productivity tool", "User uses Shram as a productivity tool"]
    assert facts_in(await kept.recall(TOOLS, user="u1")) == both

    ended = await kept.add("I don't use Magnet anymore", user="u1", session="s2")
    hits = await kept.recall(TOOLS, user="u1")
    assert facts_in(hits) == ["User uses Shram as a productivity tool"]
    assert hits[0].kind != "message"
    old = next(hit for hit in hits if hit.id == told.messages[0])
    assert old.note is not None
    assert old.note.startswith("Magnet: no longer, since ")

    yesterday = datetime.now(UTC) - timedelta(days=1)
    assert facts_in(await kept.recall(TOOLS, user="u1", valid_at=yesterday)) == both
    (magnet,) = [fact for fact in await kept.facts(user="u1", valid_at=yesterday) if "Magnet" in fact.text]
    history = await kept.history(magnet.id, user="u1")
    assert [version.sources for version in history] == [told.messages, ended.messages]
    assert [change.change for version in history for change in version.changes] == ["learned", "ended"]


async def test_what_was_known_then_is_not_what_was_true_then(kept: AsyncMemory) -> None:
    await kept.add("I use Shram and Magnet as productivity tools", user="u1")
    between = datetime.now(UTC)
    await kept.add("I don't use Magnet anymore", user="u1")
    assert len(await kept.facts(user="u1", as_of=between)) == 2
    assert len(await kept.facts(user="u1")) == 1
    assert len(await kept.facts(user="u1", as_of=between - timedelta(hours=1))) == 0


async def test_a_message_is_found_at_once_and_by_a_new_process(backend: Backend, tmp_path: Path) -> None:
    embedder = HashEmbedder()
    async with (
        AsyncMemory.open(**backend.at(tmp_path), embedder=embedder) as first,
        AsyncMemory.open(**backend.at(tmp_path), embedder=embedder) as second,
    ):
        await first.add("The lighthouse is painted red", user="u")
        assert [hit.text for hit in await second.recall("lighthouse", user="u")] == ["The lighthouse is painted red"]
        await second.add("The harbour has a lighthouse too", user="u")
        assert len(await first.recall("lighthouse", user="u")) == 2


async def test_the_same_message_id_twice_is_one_message(memory: AsyncMemory) -> None:
    message = {"content": "I live in Oslo", "id": "m1"}
    first = await memory.add(message, user="u", session="s")
    again = await memory.add(message, user="u", session="s")
    assert first.messages == again.messages == ("m1",)
    assert again.changes == ()
    assert len(await memory.messages(user="u", session="s")) == 1
    assert len(await memory.facts(user="u")) == 1


async def test_the_same_message_twice_in_one_call_is_one_message(memory: AsyncMemory) -> None:
    message = {"content": "I live in Oslo", "id": "m1"}
    added = await memory.add([message, {"content": "And you?"}, {**message}], user="u")
    assert added.messages[0] == "m1" and len(added.messages) == 2
    assert [kept.text for kept in await memory.messages(user="u")] == ["I live in Oslo", "And you?"]


async def test_an_assistants_words_never_become_facts(memory: AsyncMemory) -> None:
    for role in ("assistant", "tool", "system"):
        await memory.add({"role": role, "content": "I live in Oslo and I use Magnet"}, user="u")
    assert len(await memory.facts(user="u")) == 0
    assert len(await memory.recall("Magnet", user="u", kinds={"message"})) == 3


async def test_nothing_relevant_returns_nothing(memory: AsyncMemory) -> None:
    await memory.add("The lighthouse is painted red", user="u")
    assert await memory.recall("quarterly revenue forecast", user="u") == []


async def test_an_empty_query_returns_the_latest_first(memory: AsyncMemory) -> None:
    for day in (2, 1, 3):
        await memory.add(f"day {day}", user="u", at=datetime(2030, 1, day, tzinfo=UTC))
    assert [hit.text for hit in await memory.recall("", user="u", limit=2)] == ["day 3", "day 2"]


async def test_explain_shows_every_number(memory: AsyncMemory) -> None:
    await memory.add("The lighthouse is painted red", user="u")
    (hit,) = await memory.recall("lighthouse", user="u", explain=True)
    assert hit.why is not None
    assert hit.score == pytest.approx(0.5 * hit.why.relevance + 0.3 * hit.why.importance + 0.2 * hit.why.recency)
    assert "lexical" in hit.why.arms


async def test_facts_by_hand_have_a_history(memory: AsyncMemory) -> None:
    fact = await memory.remember("Allergic to peanuts", user="u", importance=0.9)
    assert (await memory.remember("Allergic to peanuts", user="u", importance=0.9)).id == fact.id
    await memory.revise(fact.id, "Allergic to peanuts and soy", user="u", reason="told by the doctor")
    await memory.retract(fact.id, user="u")
    assert len(await memory.facts(user="u")) == 0
    with pytest.raises(InvalidInput):
        await memory.retract(fact.id, user="u")
    back = await memory.restore(fact.id, user="u")
    assert back.text == "Allergic to peanuts and soy"
    changes = [change.change for version in await memory.history(fact.id, user="u") for change in version.changes]
    assert changes == ["remembered", "reinforced", "revised", "retracted", "restored"]


async def test_metadata_and_expiry_of_a_fact_are_revised_without_its_words(memory: AsyncMemory) -> None:
    late = datetime(2999, 1, 1, tzinfo=UTC)
    fact = await memory.remember("Likes tea", user="u", metadata={"cups": 2, "of": None, "hot": True})
    revised = await memory.revise(fact.id, user="u", metadata={"cups": 3, "hot": None}, expires_at=late)
    assert (revised.text, revised.metadata, revised.expires_at) == ("Likes tea", {"cups": 3, "of": None}, late)
    assert [one.id for one in await memory.facts(user="u", where={"cups": 3})] == [fact.id]
    reworded = await memory.revise(fact.id, "Likes green tea", user="u")
    assert (reworded.metadata, reworded.expires_at) == (revised.metadata, late)
    assert (await memory.revise(fact.id, user="u", expires_at="never")).expires_at is None
    first = (await memory.history(fact.id, user="u"))[0].fact
    assert (first.metadata, first.expires_at) == (fact.metadata, None)
    with pytest.raises(InvalidInput, match="nothing is given; expected text, metadata or expires_at"):
        await memory.revise(fact.id, user="u", reason="none")
    with pytest.raises(InvalidInput, match="expires_at='soon': expected an ISO 8601 moment"):
        await memory.revise(fact.id, user="u", expires_at="soon")


async def test_an_expired_fact_is_not_found(memory: AsyncMemory) -> None:
    await memory.remember("The code is 4711", user="u", expires_at=datetime.now(UTC) - timedelta(seconds=1))
    assert await memory.recall("code", user="u") == []
    assert len(await memory.facts(user="u")) == 0


async def test_pages_follow_each_other_without_gap_or_repeat(memory: AsyncMemory) -> None:
    for number in range(7):
        await memory.remember(f"Fact number {number}", user="u")
        await memory.add(f"message {number}", user="u", session="s", learn=False)
    facts, cursor = [], None
    while True:
        page = await memory.facts(user="u", limit=3, cursor=cursor)
        facts += [fact.text for fact in page]
        cursor = page.next_cursor
        if cursor is None:
            break
    assert facts == [f"Fact number {number}" for number in reversed(range(7))]
    newest = await memory.messages(user="u", session="s", limit=4)
    older = await memory.messages(user="u", session="s", limit=4, cursor=newest.next_cursor)
    assert [message.text for message in (*older, *newest)] == [f"message {number}" for number in range(7)]


async def test_sessions_keep_state_for_a_while(memory: AsyncMemory) -> None:
    session = memory.session("s", user="u", ttl=3600)
    assert await session.get() == {}
    await session.update(step=1, name="Ana")
    assert await session.update({"name": None}, step=2) == {"step": 2}
    assert [info.id for info in await memory.sessions(user="u")] == ["s"]
    await session.end()
    assert await session.get() == {}
    assert await memory.sessions(user="u") == []
    assert await memory.session("s", user="somebody else").get() == {}


async def test_blocks_are_pinned_in_order(memory: AsyncMemory) -> None:
    await memory.set_block("persona", "You are kind.", user="u")
    await memory.append_block("profile", "Name: Ana", user="u")
    await memory.append_block("profile", "City: Oslo", user="u")
    assert [(b.name, b.text) for b in await memory.blocks(user="u")] == [
        ("persona", "You are kind."),
        ("profile", "Name: Ana\nCity: Oslo"),
    ]
    assert "You are kind." in str(await memory.context("who?", user="u"))
    await memory.delete_block("persona", user="u")
    assert [block.name for block in await memory.blocks(user="u")] == ["profile"]


async def test_another_model_is_refused_and_the_way_out_works(backend: Backend, tmp_path: Path) -> None:
    async with AsyncMemory.open(**backend.at(tmp_path), embedder=HashEmbedder()) as memory:
        await memory.add("The lighthouse is painted red", user="u")
    with pytest.raises(EmbedderMismatch, match="reindex --embed"):
        await AsyncMemory.open(**backend.at(tmp_path), embedder=HashEmbedder(dimensions=32))
    place = {**backend.at(tmp_path), "embedder": HashEmbedder(dimensions=32)}
    async with AsyncMemory.open(**place, replace_vectors=True) as memory:
        assert len(await memory.recall("lighthouse", user="u")) == 1
    async with AsyncMemory.open(**backend.at(tmp_path), embedder=HashEmbedder(dimensions=32)) as memory:
        assert (await memory.doctor()).healthy
        assert len(await memory.recall("lighthouse", user="u")) == 1


def test_a_closed_memory_says_so(backend: Backend, tmp_path: Path) -> None:
    memory = Memory.open(**backend.at(tmp_path), embedder=HashEmbedder(dimensions=16))
    memory.close()
    memory.close()
    with pytest.raises(Closed):
        memory.recall("x")


def test_a_wrong_setting_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(InvalidInput, match="exact_up_to"):
        Memory.ephemeral(exact_upto=3)


async def test_two_weeks_before_my_birthday_is_a_time_once_the_birthday_is_known(memory: AsyncMemory) -> None:
    told = {"id": "then", "role": "user", "content": "We went hiking", "at": "2025-02-17T10:00:00+00:00"}
    await memory.add([told], user="ana", session="s", learn=False)
    await memory.add("We went hiking again", user="ana", session="t", at="2025-10-01T10:00:00+00:00", learn=False)
    question = "Where did we go hiking two weeks before my birthday?"
    before = await memory.recall(question, user="ana", explain=True, min_relevance=0)
    await memory.add("My birthday is on 3 March", user="ana", session="u", at="2025-11-01T10:00:00+00:00")

    after = await memory.recall(question, user="ana", explain=True, min_relevance=0)

    assert {item.why.parts["date"] for item in before if item.why} == {0.0}
    dated = {item.id: item.why.parts["date"] for item in after if item.why}
    assert dated["then"] > 0
    assert dated["then"] == max(dated.values())


async def test_a_message_is_not_last_because_one_of_its_facts_has_ended(kept: AsyncMemory) -> None:
    told = await kept.add("I use Magnet, and my boat lies in the harbour of Porto", user="u1", session="s1")
    for number in range(4):
        await kept.add(f"The weather in the harbour was mild, day {number}", user="u1", session=f"w{number}")
    await kept.add("I don't use Magnet anymore", user="u1", session="s2")
    said = [
        hit for hit in await kept.recall("Where does my boat lie?", user="u1", min_relevance=0) if hit.kind == "message"
    ]
    assert said[0].id == told.messages[0]
    assert said[0].note is not None


async def test_after_i_moved_is_a_time_once_the_move_is_known(memory: AsyncMemory) -> None:
    await memory.add("I moved to Porto in March 2026.", user="u", session="home", at="2026-03-20T09:00:00+00:00")
    before = await memory.add("I saw a dentist", user="u", session="a", at="2025-06-01T09:00:00+00:00", learn=False)
    after = await memory.add(
        "I saw another dentist", user="u", session="b", at="2026-04-01T09:00:00+00:00", learn=False
    )

    found = await memory.recall(
        "Which dentist did I see after I moved to Porto?", user="u", explain=True, min_relevance=0
    )
    later = {item.id: item.why.parts["date"] for item in found if item.why and "date" in item.why.parts}

    assert later[after.messages[0]] > 0 == later[before.messages[0]]
