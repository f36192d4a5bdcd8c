"""Life stories, told message by message: what is known at the end, and what was so at earlier moments."""

import zlib
from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from commonplace import AsyncMemory
from commonplace.adapters.rules import RuleExtractor
from commonplace.domain.values import Message, MessageId
from tests.backends import Backend
from tests.learning.simulator import Simulator
from tests.learning.stories import Story, shown, stories

STORIES = stories()
NEIGHBOURS = 4


def apart(texts: Sequence[str]) -> NDArray[np.float32]:
    """Embed no two texts alike, by chance either: no decision of these stories may rest on a vector."""
    seeds = [zlib.crc32(text.encode()) for text in texts]
    return np.stack([np.random.default_rng(seed).standard_normal(1_024, dtype=np.float32) for seed in seeds])


@pytest.fixture(scope="module")
async def memory() -> AsyncIterator[AsyncMemory]:
    async with AsyncMemory.ephemeral(embedder=apart) as memory:
        yield memory


def told(story: Story) -> Simulator:
    memory, extractor, messages = Simulator(), RuleExtractor(), list[Message]()
    for line in story.told:
        message = Message(
            id=MessageId(f"m{len(messages) + 1}"),
            role=line.role,
            text=line.text,
            at=line.at,
            recorded_at=memory.now(),
        )
        memory.learn(message, extractor.claims(message, before=messages[-NEIGHBOURS:]))
        messages.append(message)
    return memory


def test_there_are_enough_stories_and_each_looks_back_twice() -> None:
    assert len(STORIES) >= 40
    assert len({story.name for story in STORIES}) == len(STORIES)
    assert all(5 <= len(story.told) <= 30 and len(story.moments) >= 3 for story in STORIES)


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.name)
def test_what_is_known_follows_the_story(story: Story) -> None:
    memory = told(story)
    known: dict[datetime, list[str]] = {moment: shown(memory.valid_at(moment)) for moment in story.moments}
    assert known == story.moments


@pytest.mark.parametrize("at_once", [False, True], ids=["message by message", "in one call"])
@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.name)
async def test_a_memory_follows_the_story(story: Story, at_once: bool, memory: AsyncMemory) -> None:
    user = f"{story.name} {at_once}"
    messages = [{"role": line.role, "content": line.text, "at": line.at} for line in story.told]
    for content in [messages] if at_once else messages:
        await memory.add(content, user=user, session="s1")
    known = {moment: shown(await memory.facts(user=user, valid_at=moment)) for moment in story.moments}
    assert known == story.moments


@pytest.mark.backends("ledgers")
async def test_every_ledger_follows_stories(backend: Backend, tmp_path: Path) -> None:
    async with AsyncMemory.open(**backend.at(tmp_path), embedder=apart) as memory:
        for story in STORIES[::3]:
            messages = [{"role": line.role, "content": line.text, "at": line.at} for line in story.told]
            await memory.add(messages, user=story.name, session="s1")
            known = {moment: shown(await memory.facts(user=story.name, valid_at=moment)) for moment in story.moments}
            assert known == story.moments
