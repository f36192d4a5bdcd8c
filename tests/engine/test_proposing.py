"""What somebody else reads out of a message: it counts as far as the user said it, and no further."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from commonplace import AsyncMemory, InvalidInput, NotFound, Proposal
from tests.backends import Backend
from tests.learning.test_stories import apart

pytestmark = pytest.mark.backends("ledgers")


@pytest.fixture
async def memory(backend: Backend, tmp_path: Path) -> AsyncIterator[AsyncMemory]:
    async with AsyncMemory.open(**backend.at(tmp_path), embedder=apart) as memory:
        yield memory


def home(value: str, quote: str) -> Proposal:
    return Proposal(quote=quote, text=f"User lives in {value}", subject="user", attribute="home", value=value)


async def test_a_proposal_is_learned_where_the_message_says_it_and_names_who_read_it(memory: AsyncMemory) -> None:
    added = await memory.add("Home sweet Paris, as ever", user="u1")
    said = [home("Paris", "Home sweet Paris"), home("Rome", "Home sweet Rome")]
    proposed = await memory.propose(added.messages[0], said, user="u1", by="openai:m/agent")
    (fact,) = await memory.facts(user="u1")
    assert (fact.value, fact.extractor, fact.sources) == ("Paris", "openai:m/agent", added.messages)
    assert [change.change for change in proposed.changes] == ["learned"]
    assert proposed.notes == ("1 not said by the user",)


async def test_a_message_that_is_read_twice_makes_nothing_surer(memory: AsyncMemory) -> None:
    added = await memory.add("I live in Paris")
    (before,) = await memory.facts()
    proposed = await memory.propose(added.messages[0], [home("Paris", "I live in Paris")])
    assert proposed.changes == ()
    assert [fact.confidence for fact in await memory.facts()] == [before.confidence]


async def test_only_what_the_user_said_can_be_proposed(memory: AsyncMemory) -> None:
    added = await memory.add({"role": "assistant", "content": "You live in Paris"}, user="u1")
    proposed = await memory.propose(added.messages[0], [home("Paris", "You live in Paris")], user="u1")
    assert "nothing is learned" in proposed.notes[0]
    assert list(await memory.facts(user="u1")) == []


async def test_a_message_of_somebody_else_is_not_there(memory: AsyncMemory) -> None:
    added = await memory.add("I live in Paris", user="u1")
    with pytest.raises(NotFound):
        await memory.propose(added.messages[0], [home("Paris", "I live in Paris")], user="u2")
    with pytest.raises(InvalidInput):
        await memory.propose(added.messages[0], ["I live in Paris"], user="u1")  # type: ignore[list-item]
    assert (await memory.message(added.messages[0], user="u1")).text == "I live in Paris"
