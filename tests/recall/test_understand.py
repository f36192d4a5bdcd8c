"""What a question wants."""

import pytest

from commonplace.recall.terms import analyse
from commonplace.recall.understand import Question, understand

(ANA,) = analyse("Ana")


def question(text: str) -> Question:
    return understand(text, speakers={ANA: frozenset({7})}, now=0)


def test_whom_it_names_is_known_by_the_speakers() -> None:
    asked = question("What did Ana tell Ben?")
    assert asked.names == {ANA}
    assert asked.speakers == {7}


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("When did it start?", "when"),
        ("Which year was that?", "other"),
        ("What year was that?", "when"),
        ("Where does she live?", "where"),
        ("How often do they meet?", "how many"),
        ("Why did he leave?", "why"),
        ("What did he buy?", "other"),
    ],
)
def test_what_kind_of_answer_would_do(text: str, asks: str) -> None:
    assert question(text).asks == asks


@pytest.mark.parametrize(
    "text", ["What did you suggest for dinner?", "the book you recommended", "have you mentioned it?"]
)
def test_a_question_about_the_assistants_words_looks_back(text: str) -> None:
    assert question(text).about_assistant


@pytest.mark.parametrize("text", ["Can you suggest a book?", "What would you recommend?", "Could you tell me more?"])
def test_a_request_is_no_question_about_the_assistants_words(text: str) -> None:
    assert not question(text).about_assistant
    assert question(text).requests


@pytest.mark.parametrize(
    "text", ["Which books have I read?", "Can you list what I told you so far?", "What is my name?"]
)
def test_a_question_about_the_past_is_no_request(text: str) -> None:
    assert not question(text).requests


def test_a_question_about_the_talk_itself_is_known() -> None:
    assert question("What have we talked about?").about_talk
    assert question("Can you summarise my week?").about_talk
    assert not question("Summarise the plot of Hamlet").about_talk


def test_of_a_long_prompt_the_question_is_kept() -> None:
    asked = question("Here is a long story. " * 60 + "Which tea do I drink? " + "It is about tea. " * 3)
    assert asked.text == "Which tea do I drink?"


def test_of_a_long_prompt_without_a_question_the_end_is_kept() -> None:
    assert question("word " * 500 + "violin").text.endswith("violin")
    assert len(question("word " * 500).text.split()) <= 120
