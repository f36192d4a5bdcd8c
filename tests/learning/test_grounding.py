"""A model's claim becomes a fact only if the message says it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.domain.claims import Proposal
from commonplace.learning.grounding import ground, known_attribute
from tests.learning.test_rules_claims import a_message


def proposed(quote: str, value: str, attribute: str = "home", **fields: object) -> Proposal:
    given = {"text": f"User {attribute} {value}", "subject": "user", **fields}
    return Proposal(quote=quote, value=value, attribute=attribute, **given)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("said", "quote", "value"),
    [
        ("Hi! I live in Paris.", "I live in Paris", "Paris"),
        ("Hi! i LIVE  in\nparis.", "I live in Paris", "Paris"),
        ("I’m “really” fond of tea", "I'm really fond of tea", "tea"),
        ("Ich wohne in München", "ich wohne in Munchen", "München"),
        ("I use Shram every day", "I use Shram", "uses Shram"),
        ("I run every morning", "I run every morning", "running"),
    ],
)
def test_a_quotation_is_found_whatever_its_case_spaces_and_marks(said: str, quote: str, value: str) -> None:
    (claim,), dropped = ground([proposed(quote, value)], a_message(said))
    assert (claim.value, dropped) == (value, 0)
    assert 0 <= claim.start < claim.stop <= len(said)


def test_the_span_is_that_of_the_quotation() -> None:
    said = "Well, hello. I live in Paris now."
    (claim,), _ = ground([proposed("i live in paris", "Paris")], a_message(said))
    assert said[claim.start : claim.stop] == "I live in Paris"


@pytest.mark.parametrize(
    ("quote", "value"),
    [
        ("I live in Paris", "Rome"),
        ("I moved to Rome last year", "Paris"),
        ("", "Paris"),
        ("I live in Paris", ""),
        ("I live in Pari", "Pari"),
        ("I live in Paris", "Paris, France"),
    ],
)
def test_what_is_not_in_the_message_is_dropped_and_counted(quote: str, value: str) -> None:
    assert ground([proposed(quote, value)], a_message("I live in Paris")) == ((), 1)


def test_an_end_need_not_name_what_ends() -> None:
    (claim,), dropped = ground(
        [proposed("we broke up", "", "partner", standing="ended")], a_message("Sadly we broke up")
    )
    assert (claim.standing, claim.value, dropped) == ("ended", "", 0)


def test_what_was_blanked_grounds_nothing() -> None:
    message = a_message("I live in Paris. Tea!")
    assert ground([proposed("I live in Paris", "Paris")], message, text=" " * 16 + " Tea!") == ((), 1)


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("home", "home"),
        ("Allergic to", "allergic_to"),
        ("favorite colour", "favourite colour"),
        ("detail gate code", "detail gate code"),
        ("wifi_password", "detail wifi password"),
        ("", None),
        ("???", None),
        ("x" * 100, None),
    ],
)
def test_every_attribute_is_one_of_the_table(name: str, known: str | None) -> None:
    assert known_attribute(name) == known


@given(st.text(max_size=80), st.text(max_size=40), st.text(max_size=20))
def test_whatever_a_model_says_grounding_never_fails(said: str, quote: str, value: str) -> None:
    message = a_message(said or "x")
    claims, dropped = ground([proposed(quote, value)], message)
    assert len(claims) + dropped == 1
    assert all(0 <= claim.start < claim.stop <= len(message.text) for claim in claims)
