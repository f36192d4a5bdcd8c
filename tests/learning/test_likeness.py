"""The same thing in other words is one thing; two things with like names are two."""

import pytest

from commonplace.learning.likeness import compare, is_a_named, more_said, names_agree

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


def test_names_and_numbers_must_agree_before_embeddings_are_asked() -> None:
    assert names_agree("hiking in the Alps", "mountain walks in the Alps")
    assert not names_agree("hiking in the Alps", "hiking in the Andes")
    assert not names_agree("wakes up at 6", "wakes up at 7")
