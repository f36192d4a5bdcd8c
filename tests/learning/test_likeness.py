"""The same thing in other words is one thing; two things with like names are two."""

from pathlib import Path

import pytest

from commonplace.adapters.onnx.embedder import OnnxEmbedder
from commonplace.learning.likeness import ALIKE, compare, is_a_named, may_be_alike, more_said, recounts
from tests.adapters.local_model import local_model

SAME = [
    ("Magnet", "magnet"),
    ("the piano", "piano"),
    ("dogs", "a dog"),
    ("strawberries", "strawberry"),
    ("VS Code", "Visual Studio Code"),
    ("NYC", "New York City"),
    ("MacBook", "Mac Book"),
    ("e-mail", "email"),
    ("Zürich", "Zurich"),
    ("smoking", "smoke"),
    ("smoker", "smoking"),
    ("running", "runs"),
    ("dog named Rex", "dog Rex"),
    ("C++", "c++"),
    ("pain in the back", "back pain"),
    ("lawyer for taxes", "tax lawyer"),
]
OTHER = [
    ("Berlin", "Paris"),
    ("Ann", "Anne"),
    ("Marta", "Maria"),
    ("Java", "JavaScript"),
    ("C", "C++"),
    ("31", "32"),
    ("peanuts", "nuts"),
    ("dog named Rex", "dog named Bella"),
    ("trip to Japan", "trip to Peru"),
    ("", "Berlin"),
    ("Mary Ann", "Ann Mary"),
    ("manager of software developers", "developer of software"),
]
PART = [
    ("Honda", "Honda Civic"),
    ("York", "New York"),
    ("coffee", "iced coffee"),
    ("Visual Studio", "Visual Studio Code"),
]
MORE = [
    ("dog named Rex", "dog"),
    ("Berlin, Germany", "Berlin"),
    ("trip to Japan", "a trip"),
    ("Python for scripts", "Python"),
]


@pytest.mark.parametrize(("left", "right"), SAME)
def test_the_same_thing_in_other_words(left: str, right: str) -> None:
    assert compare(left, right) == compare(right, left) == "same"


@pytest.mark.parametrize(("left", "right"), OTHER)
def test_another_thing_with_a_like_name(left: str, right: str) -> None:
    assert compare(left, right) == compare(right, left) == "other"


@pytest.mark.parametrize(("left", "right"), PART)
def test_one_within_the_other_is_not_the_same(left: str, right: str) -> None:
    assert compare(left, right) == compare(right, left) == "part"


@pytest.mark.parametrize(("long", "short"), MORE)
def test_more_detail_is_told_from_less(long: str, short: str) -> None:
    assert compare(long, short) == "more"
    assert compare(short, long) == "less"


def test_two_empty_values_are_the_same() -> None:
    assert compare("", "") == "same"


def test_a_sentence_that_adds_something_says_more() -> None:
    assert more_said("User uses Shram as a productivity tool", "User uses Shram")
    assert not more_said("User uses Shram", "User uses Shram as a productivity tool")
    assert not more_said("User uses Shram for work", "User uses Shram as a productivity tool")


def test_a_name_is_the_name_of_a_kind() -> None:
    assert is_a_named("Rex", "dog", "User has a dog named Rex")
    assert not is_a_named("Rex", "cat", "User has a dog named Rex")
    assert not is_a_named("puppy", "dog", "User has a dog, a puppy")


@pytest.mark.parametrize(
    ("new", "known"),
    [
        ("long walks in the Alps", "hiking trips in the Andes"),
        ("gets out of bed at 6", "wakes up at 7"),
        ("buy a house", "sell a house"),
        ("coffee", "very cold coffee"),
        ("nurse", "doctor"),
    ],
)
def test_embeddings_are_not_asked_about_names_numbers_single_words_and_additions(new: str, known: str) -> None:
    assert not may_be_alike(new, known)
    assert not may_be_alike(known, new)


def test_embeddings_are_asked_about_other_words() -> None:
    assert may_be_alike("medical doctor", "physician")
    assert may_be_alike("long walks in the Alps", "hiking trips in the Alps")


async def test_the_threshold_keeps_apart_what_is_not_the_same_and_finds_some_that_is() -> None:
    pairs = [line.split("\t") for line in (Path(__file__).parent / "data" / "alike.tsv").read_text().splitlines()]
    async with OnnxEmbedder(local_model()) as embedder:
        new, known = [await embedder.embed([f"User {pair[at]}" for pair in pairs]) for at in (2, 3)]
    merged = {"same": 0, "other": 0}
    for (label, _, left, right), closeness in zip(pairs, (new * known).sum(axis=1), strict=True):
        merged[label] += compare(left, right) == "same" or (may_be_alike(left, right) and closeness >= ALIKE)
    assert merged["other"] == 0
    assert merged["same"] >= 12


@pytest.mark.parametrize(
    ("new", "known", "another"),
    [
        ("three cats", "two cats", True),
        ("3 cats", "cat", True),
        ("2 cats", "two cats", False),
        ("three cats", "two dogs", False),
        ("three cats", "two black cats", False),
        ("cat", "two cats", False),
        ("two Teslas", "Tesla", False),
        ("two cats", "", False),
        ("two", "two cats", False),
        ("", "", False),
    ],
)
def test_another_number_of_the_same_is_told_from_other_things(new: str, known: str, another: bool) -> None:
    assert recounts(new, known) is another
