"""Moments as people write them."""

from datetime import UTC, datetime

from commonplace.domain.times import day


def test_a_day_is_written_in_english_whatever_the_locale_is() -> None:
    written = [day(datetime(2026, month, month, tzinfo=UTC)) for month in (1, 5, 12)]
    assert written == ["1 Jan 2026", "5 May 2026", "12 Dec 2026"]
