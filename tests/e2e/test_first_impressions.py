"""What somebody tries in the first five minutes: a small memory, everyday questions, and questions it cannot answer.

Run with the shipped defaults and the real embedding model.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from commonplace.sync import Memory
from tests.adapters.local_model import local_model
from tests.backends import Backend

SAID = [
    "Hi! I'm Nadia and I live in Rotterdam.",
    "I work as a nurse at the Erasmus hospital.",
    "I'm allergic to shellfish, so no prawns for me.",
    "My sister Olga lives in Kyiv with her two cats.",
    "I use Notion and Todoist to plan my week.",
    "Our dog is called Biscuit, a beagle.",
    "I really can't stand cilantro.",
    "Last summer we cycled along the Danube from Passau to Vienna.",
    "I'm training for the half marathon in October.",
    "My favourite author is Ursula Le Guin.",
    "I drive an old Volvo, it's a 1998 model.",
    "I take the night shift on Thursdays.",
    "I'm learning Portuguese because I want to move to Lisbon one day.",
    "My laptop is a ThinkPad running Debian.",
    "I was born on 3 March 1990.",
    "I don't drink coffee after noon.",
    "We are renovating the kitchen; the plumber comes next Tuesday.",
    "My partner Tom plays the double bass in a jazz trio.",
    "I cancelled my gym membership in spring.",
    "I prefer short answers without bullet points.",
]
ANSWERED = [
    ("Where do I live?", "Rotterdam"),
    ("What is my name?", "Nadia"),
    ("What's my job?", "nurse"),
    ("Where do I work?", "Erasmus"),
    ("What can't I eat?", "shellfish"),
    ("Do I have any allergies?", "shellfish"),
    ("Who is Olga?", "sister"),
    ("Which planning apps do I use?", "Todoist"),
    ("What's the name of my dog?", "Biscuit"),
    ("Do I have a pet?", "Biscuit"),
    ("Which herb do I dislike?", "cilantro"),
    ("Where did we go cycling?", "Danube"),
    ("What race am I preparing for?", "marathon"),
    ("Who is my favourite writer?", "Le Guin"),
    ("What car do I have?", "Volvo"),
    ("When do I work nights?", "Thursdays"),
    ("Which language am I learning?", "Portuguese"),
    ("What computer do I use?", "ThinkPad"),
    ("When is my birthday?", "3 March"),
    ("What instrument does Tom play?", "bass"),
    ("When is the plumber coming?", "Tuesday"),
    ("Am I still going to the gym?", "gym"),
    ("How should you answer me?", "short answers"),
]
FOREIGN = [
    "What is the capital of Mongolia?",
    "How do I reverse a linked list in Rust?",
    "Who won the world cup in 1986?",
    "Explain the second law of thermodynamics",
    "What is the current share price of Nokia?",
    "Write a haiku about mountains",
    "What did Socrates say about justice?",
    "Convert 15 miles to kilometres",
]


pytestmark = pytest.mark.backends("ledgers")


@pytest.fixture
def memory(backend: Backend, tmp_path: Path) -> Iterator[Memory]:
    local_model()
    with Memory.open(**backend.at(tmp_path) | {"index": "auto"}) as memory:
        for number, text in enumerate(SAID):
            memory.add(text, user="nadia", session=f"s{number // 4}")
        yield memory


def test_everyday_questions_are_answered_the_first_result_is_mostly_right_and_others_return_nothing(
    memory: Memory,
) -> None:
    asked = {question: memory.recall(question, user="nadia", limit=3) for question, _ in ANSWERED}
    found = {question: [hit.text for hit in hits] for question, hits in asked.items()}
    missed = {question: found[question] for question, answer in ANSWERED if answer not in "\n".join(found[question])}
    assert len(missed) <= 2, missed
    right = sum(bool(found[question]) and answer in found[question][0] for question, answer in ANSWERED)
    assert right >= 0.7 * len(ANSWERED)
    answered = {q: [(h.text, h.relevance) for h in hits] for q in FOREIGN if (hits := memory.recall(q, user="nadia"))}
    assert len(answered) <= 1, answered


def test_having_asked_before_does_not_push_the_answer_back(backend: Backend, tmp_path: Path) -> None:
    asked = "What productivity tools do I use?"
    with Memory.open(**backend.at(tmp_path)) as memory:
        memory.add("I use Shram and Magnet as productivity tools", user="ana", session="one")
        for session in ("two", "three"):
            memory.add(asked, user="ana", session=session)
        assert "Shram" in memory.recall(asked, user="ana")[0].text
        assert asked not in str(memory.context(asked, user="ana", session="four"))
