"""Life stories, told message by message: what is known at the end, and what was so at earlier moments."""

from datetime import datetime

import pytest

from commonplace.adapters.rules import RuleExtractor
from commonplace.domain.values import Message, MessageId
from tests.learning.simulator import Simulator
from tests.learning.stories import Story, shown, stories

STORIES = stories()
NEIGHBOURS = 4


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
