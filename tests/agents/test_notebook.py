"""Answers without a model: what is said in them, and what is left out."""

from datetime import UTC, datetime

from commonplace.agents.notebook import answering
from commonplace.domain.values import Kind, Recalled


def found(text: str, relevance: float, kind: Kind = "fact") -> Recalled:
    at = datetime(2026, 5, 12, tzinfo=UTC)
    return Recalled(text=text, kind=kind, id=text, at=at, score=0.5, relevance=relevance, role="user")


def test_what_is_beside_the_point_is_not_recited() -> None:
    items = [found("allergic to peanuts", 0.2), found("loves sushi", 0.4), found("gate code 4821", 0.05)]
    assert [item.text for item in answering(items)] == ["allergic to peanuts", "loves sushi"]


def test_a_message_that_answers_comes_before_a_fact_that_does_not() -> None:
    items = [found("the deadline is 12 December", 0.9, "message"), found("gate code 4821", 0.1)]
    assert [item.text for item in answering(items)] == ["the deadline is 12 December"]


def test_nothing_found_is_no_answer() -> None:
    assert answering([]) == ()
