"""The time a question speaks of, against the day it is asked."""

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.domain.times import from_micros, to_micros
from commonplace.recall.when import Window, birthday_of, moved_to, window

ASKED = to_micros(datetime(2024, 2, 10, 12, tzinfo=UTC))  # a Saturday


def days(found: Window | None) -> tuple[str, str] | None:
    """Return the first and the last day."""
    if found is None:
        return None
    last = from_micros(found.stop) - timedelta(days=1)
    return from_micros(found.start).date().isoformat(), last.date().isoformat()


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("Who came to dinner on May 3, 2023?", "2023-05-03", "2023-05-03"),
        ("What happened on 3rd of July?", "2023-07-03", "2023-07-03"),
        ("and on 2023-05-03?", "2023-05-03", "2023-05-03"),
        ("What did we do in June?", "2023-06-01", "2023-06-30"),
        ("What did we do in January?", "2024-01-01", "2024-01-31"),
        ("the trip in February 2022", "2022-02-01", "2022-02-28"),
        ("last summer", "2023-06-01", "2023-08-31"),
        ("in the summer of 2022", "2022-06-01", "2022-08-31"),
        ("during winter 2022", "2021-12-01", "2022-02-28"),
        ("this winter", "2023-12-01", "2024-02-29"),
        ("in 2022", "2022-01-01", "2022-12-31"),
        ("yesterday", "2024-02-09", "2024-02-09"),
        ("the day before yesterday", "2024-02-08", "2024-02-08"),
        ("last week", "2024-01-29", "2024-02-04"),
        ("last weekend", "2024-02-03", "2024-02-04"),
        ("this month", "2024-02-01", "2024-02-29"),
        ("next month", "2024-03-01", "2024-03-31"),
        ("last year", "2023-01-01", "2023-12-31"),
        ("two weeks ago", "2024-01-24", "2024-01-30"),
        ("in the past few months", "2023-11-12", "2024-02-10"),
        ("last Friday", "2024-02-09", "2024-02-09"),
        ("on Monday", "2024-02-05", "2024-02-05"),
        ("since March", "2023-03-01", "2024-02-10"),
        ("between March and June 2023", "2023-03-01", "2023-06-30"),
        ("the Friday before 20 May 2023", "2023-05-13", "2023-05-20"),
        ("two weeks before August 11, 2023", "2023-07-25", "2023-07-31"),
        ("last week, as mentioned on November 6, 2023", "2023-11-06", "2023-11-06"),
    ],
)
def test_an_expression_of_time_is_understood(text: str, first: str, last: str) -> None:
    assert days(window(text, now=ASKED)) == (first, last)


@pytest.mark.parametrize("text", ["may I fall?", "Does he like Cyberpunk 2077?", "what do I march for", "", "the 31st"])
def test_a_word_that_only_looks_like_one_is_not(text: str) -> None:
    assert window(text, now=ASKED) is None


def test_a_day_that_no_calendar_has_leaves_its_month() -> None:
    assert days(window("on 31 June 2023", now=ASKED)) == ("2023-06-01", "2023-06-30")


def test_after_a_move_is_a_time_when_the_day_is_known() -> None:
    moved = date(2023, 3, 10)
    for text in ("Which doctor did I see after I moved to Porto?", "What have I read since I moved to Porto Alegre?"):
        start, stop = days(window(text, now=ASKED, moved=moved)) or ("", "")
        assert start == "2023-03-10"
        assert stop > "2023-05-01"
        assert window(text, now=ASKED) is None
    assert moved_to("What happened since I moved to Porto Alegre?") == "Porto Alegre"
    assert moved_to("When have I moved to Porto?") is None


def test_a_birthday_is_a_date_when_it_is_known() -> None:
    text = "two weeks before my birthday"
    assert window(text, now=ASKED) is None
    assert days(window(text, now=ASKED, birthday=(3, 1))) == ("2023-02-12", "2023-02-18")
    assert days(window("on my birthday", now=ASKED, birthday=(2, 29))) == ("2023-02-28", "2023-02-28")


@given(st.text(), st.dates(date(1, 1, 2), date(9999, 12, 30)))
def test_any_text_on_any_day_is_no_error(text: str, today: date) -> None:
    found = window(text, now=to_micros(datetime(today.year, today.month, today.day, tzinfo=UTC)))
    assert found is None or found.start < found.stop


@given(st.sampled_from(["300 years ago", "next year", "last winter", "31 december 9999"]), st.sampled_from([1, 9999]))
def test_the_ends_of_the_calendar_are_no_error(text: str, year: int) -> None:
    window(text, now=to_micros(datetime(year, 6, 1, tzinfo=UTC)))


@pytest.mark.parametrize(
    ("said", "birthday"),
    [
        ("3 March 1990", (3, 3)),
        ("May 4th", (5, 4)),
        ("the 12th of July", (7, 12)),
        ("in spring", None),
        ("99 May", None),
    ],
)
def test_a_birthday_is_read_out_of_what_a_fact_says(said: str, birthday: tuple[int, int] | None) -> None:
    assert birthday_of(said) == birthday
