"""The life stories again, read by a model over the wire formats of OpenAI and Anthropic: the model proposes what the
rules read, and everything from the prompt to the facts is the real thing."""

import asyncio

import pytest

from commonplace import AsyncMemory
from commonplace.domain.results import Added
from tests.learning.conftest import Serve
from tests.learning.scripted_model import by_rules
from tests.learning.stories import Story, shown
from tests.learning.test_stories import STORIES as ALL
from tests.learning.test_stories import apart

STORIES = [story for story in ALL if not story.left_open]
WIRES = {"openai chat": ("openai:m", "/v1"), "anthropic": ("anthropic:m", "")}


async def tell(memory: AsyncMemory, story: Story) -> Added:
    messages = [{"role": line.role, "content": line.text, "at": line.at} for line in story.told]
    return await memory.add(messages, user=story.name, session="s1", wait=True)


@pytest.mark.parametrize(("model", "path"), WIRES.values(), ids=WIRES)
async def test_what_is_known_follows_the_stories(model: str, path: str, serve: Serve) -> None:
    scripted = serve(by_rules)
    async with AsyncMemory.ephemeral(
        embedder=apart, model=model, agent_base_url=scripted.url + path, learning_concurrency=8
    ) as memory:
        told = await asyncio.gather(*(tell(memory, story) for story in STORIES))
        assert [(added.pending, added.notes) for added in told] == [(0, ())] * len(STORIES)
        known = {
            story.name: {
                moment: shown(await memory.facts(user=story.name, valid_at=moment)) for moment in story.moments
            }
            for story in STORIES
        }
        assert known == {story.name: story.moments for story in STORIES}
        spent = (await memory.stats()).learning.usage
        said = sum(line.role == "user" for story in STORIES for line in story.told)
        assert (spent.requests, spent.tokens, spent.ungrounded) == (said, said * 110, 0)


async def test_only_what_users_said_is_sent_to_be_read(serve: Serve) -> None:
    scripted = serve(by_rules)
    async with AsyncMemory.ephemeral(embedder=apart, model="openai:m", agent_base_url=scripted.url + "/v1") as memory:
        said = [
            {"role": "system", "content": "The user lives in Rome."},
            {"role": "assistant", "content": "I live in the cloud."},
            {"role": "tool", "content": "I live in Oslo."},
            {"role": "user", "content": "I live in Paris."},
        ]
        await memory.add(said, session="s1", wait=True)
        assert [fact.value for fact in await memory.facts()] == ["Paris"]
    (prompt,) = scripted.prompts
    assert "<message>\nI live in Paris.\n</message>" in prompt
    assert "assistant: I live in the cloud." in prompt.partition("<known>")[0]
