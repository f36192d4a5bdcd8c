from pathlib import Path

import pytest

from commonplace.interfaces.cli import demo
from commonplace.interfaces.cli.demo import Step
from tests.interfaces.cli.conftest import Cli


@pytest.mark.usefixtures("with_model")
def test_the_story_is_told_twice_and_every_answer_is_right(cli: Cli) -> None:
    ran = cli("demo", "--json")
    assert [step for telling in ran.json for step in telling["steps"] if not step["right"]] == []
    assert ran.code == 0
    assert [len(telling["steps"]) for telling in ran.json] == [6, 7]
    answers = [step["answer"] for step in ran.json[0]["steps"]]
    assert answers[1:6] == ["Shram, Magnet", "ended Magnet", "Shram", "Shram, Magnet", "learned from m1, ended by m2"]


def test_without_a_model_the_first_telling_works_by_words_alone(cli: Cli) -> None:
    ran = cli("demo", "--json")
    assert all(step["right"] for step in ran.json[0]["steps"])
    assert "commonplace model fetch" in ran.err


def test_a_wrong_answer_is_shown_and_is_the_exit_code(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "CHANGED", "I like Magnet more than ever")
    ran = cli("demo")
    assert ran.code == 1
    assert "-> Shram, Magnet   (wrong: expected Shram)" in ran.out


def test_the_demo_leaves_the_memory_of_its_user_alone(cli: Cli, home: Path) -> None:
    cli("demo")
    assert not home.exists()


def test_a_step_is_right_when_it_says_what_was_expected() -> None:
    assert Step("ask", "yes", "yes").right
    assert not Step("ask", "no", "yes").right
