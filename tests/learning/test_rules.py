"""Learning by rules, over the test sets. `python -m bench.learning --misses` shows each wrong or missed claim."""

from pathlib import Path

import pytest

from bench.learning import DATA, Score, load, score
from commonplace.adapters.rules import RuleExtractor

STATEMENTS = DATA / "statements.jsonl"
HELD_OUT = DATA / "statements_heldout.jsonl"


@pytest.fixture(scope="module")
def rules() -> RuleExtractor:
    return RuleExtractor()


def overall(path: Path, rules: RuleExtractor) -> Score:
    return score(load(path), rules)["all"]


def test_the_set_is_large_and_holds_enough_messages_that_teach_nothing() -> None:
    examples = load(STATEMENTS)
    assert len(examples) >= 400
    assert sum(not example.expected and not example.optional for example in examples) >= 130
    assert len({example.text for example in examples}) == len(examples)


def test_the_held_out_set_shares_no_message_with_the_first() -> None:
    held_out = load(HELD_OUT)
    assert len(held_out) >= 150
    assert {example.text for example in held_out}.isdisjoint(example.text for example in load(STATEMENTS))


@pytest.mark.parametrize("path", [STATEMENTS, HELD_OUT], ids=lambda path: path.stem)
def test_rules_are_precise_and_find_most_of_what_is_said(path: Path, rules: RuleExtractor) -> None:
    result = overall(path, rules)
    assert result.precision >= 0.95, result.misses
    assert result.recall >= 0.80, result.misses


@pytest.mark.parametrize("path", [STATEMENTS, HELD_OUT], ids=lambda path: path.stem)
def test_messages_that_state_nothing_teach_nothing(path: Path, rules: RuleExtractor) -> None:
    silent = [example for example in load(path) if not example.expected and not example.optional]
    assert score(silent, rules)["all"].misses == []
