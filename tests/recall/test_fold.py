"""What says one thing is one result, and nothing that says more is lost in it."""

from dataclasses import replace
from datetime import UTC, datetime

from commonplace.domain.values import MessageId, Recalled
from commonplace.recall.fold import fold

AT = datetime(2026, 5, 12, tzinfo=UTC)
SAID = Recalled(
    text="I use Shram and Magnet as productivity tools", kind="message", id="m1", at=AT, score=0.8, relevance=0.9
)


def a_fact(id_: str, text: str, *, relevance: float) -> Recalled:
    sources = (MessageId("m1"),)
    return Recalled(text=text, kind="fact", id=id_, at=AT, score=relevance / 2, relevance=relevance, sources=sources)


SHRAM = a_fact("shram", "User uses Shram as a productivity tool", relevance=0.3)
MAGNET = a_fact("magnet", "User uses Magnet as a productivity tool", relevance=0.2)


def found(*items: Recalled) -> list[tuple[str, float, str | None]]:
    return [(item.id, item.relevance, item.said) for item in fold(items, language="en")[0]]


def test_all_facts_of_a_message_that_answer_as_well_stand_for_it_at_its_place() -> None:
    other = replace(SAID, id="m2", text="Something else", relevance=0.5)
    assert found(SAID, other, SHRAM, MAGNET) == [
        ("shram", 0.9, SAID.text),
        ("magnet", 0.9, SAID.text),
        ("m2", 0.5, None),
    ]


def test_a_fact_of_the_same_message_that_answers_something_else_keeps_its_own_relevance() -> None:
    paris = a_fact("paris", "User lives in Paris", relevance=0.02)
    assert found(SAID, SHRAM, MAGNET, paris)[2] == ("paris", 0.02, None)


def test_a_message_that_says_more_than_its_facts_is_shown_beside_them() -> None:
    long = replace(SAID, text=SAID.text + ", and last week a colleague explained the whole calendar integration to me")
    assert [id_ for id_, _, _ in found(long, SHRAM)] == ["m1", "shram"]


def test_a_message_of_which_something_has_ended_is_shown_with_what_has_changed() -> None:
    noted = replace(SAID, note="Magnet: no longer, since 12 May 2026")
    assert [id_ for id_, _, _ in found(SHRAM, noted)] == ["shram", "m1"]


def test_the_same_words_twice_are_one_result_at_the_first_place() -> None:
    again = replace(SAID, id="m2", text="i use  Shram and Magnet as productivity tools", relevance=0.95)
    assert found(SAID, again) == [("m1", 0.95, None)]
