"""Questions about the whole, which share no word with what answers them."""

from collections.abc import Iterator

import pytest

from commonplace import Memory
from commonplace.recall.overview import asks_about_user


@pytest.mark.parametrize(
    "asked",
    [
        "What do you know about me?",
        "Hello there! What do you remember about me?",
        "who am I",
        "Tell me about myself.",
        "Was weißt du über mich?",
    ],
)
def test_a_question_for_all_that_is_known_of_the_user_is_understood(asked: str) -> None:
    assert asks_about_user(asked)


@pytest.mark.parametrize(
    "asked", ["What do you know about my dog?", "Who am I meeting?", "What do you know about me and Ben?", "", "?! "]
)
def test_a_question_that_names_something_is_not_one(asked: str) -> None:
    assert not asks_about_user(asked)


@pytest.fixture(scope="module")
def memory() -> Iterator[Memory]:
    with Memory.ephemeral() as memory:
        yield memory


def test_what_is_known_of_the_user_is_recalled_and_what_has_ended_is_not(memory: Memory) -> None:
    memory.add("I live in Oslo and I use Magnet as a tool", user="alex")
    memory.add("I don't use Magnet anymore", user="alex")
    memory.remember("A page about ships", user="alex", kind="semantic")
    found = memory.recall("What do you know about me?", user="alex", limit=2)
    assert "User lives in Oslo" in [item.text for item in found]
    assert not [item for item in found if item.text.startswith("User uses Magnet")]
    assert "ships" not in str([item.text for item in found])
    scores = [item.score for item in memory.recall("What do you know about me?", user="alex")]
    assert scores == sorted(scores, reverse=True)
    assert memory.recall("What do you know about me?", user="ben") == []
