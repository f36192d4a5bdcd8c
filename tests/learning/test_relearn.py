"""Learning everything anew: the difference is shown, written at once, and leaves alone what somebody did by hand."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from commonplace import AsyncMemory
from tests.backends import Backend
from tests.learning.stories import shown
from tests.learning.test_stories import STORIES, apart

pytestmark = pytest.mark.backends("ledgers")


@pytest.fixture
async def memory(backend: Backend, tmp_path: Path) -> AsyncIterator[AsyncMemory]:
    async with AsyncMemory.open(**backend.at(tmp_path), embedder=apart) as memory:
        yield memory


async def test_learning_the_same_anew_changes_nothing(memory: AsyncMemory) -> None:
    for story in STORIES[:20]:
        said = [{"role": line.role, "content": line.text, "at": line.at} for line in story.told]
        await memory.add(said, user=story.name, session="s1")
        again = await memory.relearn(user=story.name)
        assert (again.added, again.removed, again.changed) == ((), (), ()), story.name


async def test_what_was_never_learned_is_added_and_only_when_asked(memory: AsyncMemory) -> None:
    await memory.add("I live in Paris", user="u1", learn=False, at="2026-05-01T00:00:00+00:00")
    await memory.add("I moved to Rome", user="u1", learn=False, at="2026-06-01T00:00:00+00:00")
    shows = await memory.relearn(user="u1")
    assert (len(shows.added), shows.messages, shows.applied) == (2, 2, False)
    assert list(await memory.facts(user="u1")) == []
    await memory.relearn(user="u1", apply=True)
    assert shown(await memory.facts(user="u1")) == ["home: Rome"]
    assert shown(await memory.facts(user="u1", valid_at="2026-05-15T00:00:00+00:00")) == ["home: Paris"]
    (rome,) = await memory.facts(user="u1")
    (version,) = await memory.history(rome.id, user="u1")
    assert [(change.change, change.reason) for change in version.changes] == [("learned", "learned anew by rules/1")]
    assert len(rome.sources) == 1
    again = await memory.relearn(user="u1")
    assert (again.added, again.removed, again.changed) == ((), (), ())


async def test_what_was_done_by_hand_stays(memory: AsyncMemory) -> None:
    await memory.remember("Prefers short answers", user="u1")
    for text in ("I live in Paris", "I like tea", "I use Magnet"):
        await memory.add(text, user="u1")
    facts = {fact.value: fact for fact in await memory.facts(user="u1")}
    await memory.retract(facts["tea"].id, user="u1")
    await memory.revise(facts["Magnet"].id, "User uses Magnet at work", user="u1")
    before = sorted(fact.text for fact in await memory.facts(user="u1"))
    done = await memory.relearn(user="u1", apply=True)
    assert (done.added, done.removed, done.changed) == ((), (), ())
    assert sorted(fact.text for fact in await memory.facts(user="u1")) == before
