import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from commonplace.domain.errors import InvalidInput
from commonplace.interfaces.cli.times import parse_when, shown

NOW = datetime(2026, 5, 12, 9, 30, tzinfo=UTC)


@pytest.fixture(autouse=True)
def in_paris(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "Europe/Paris")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        (None, None),
        ("now", NOW),
        ("yesterday", NOW - timedelta(days=1)),
        ("2026-05-12T09:30:00+00:00", NOW),
        ("2026-05-12T09:30:00Z", NOW),
        ("2026-05-12T11:30", NOW),
        ("2026-01-01", datetime(2025, 12, 31, 23, tzinfo=UTC)),
    ],
)
def test_a_moment_without_an_offset_is_local_time(text: str | None, moment: datetime | None) -> None:
    assert parse_when(text, name="--at", now=NOW) == moment


def test_what_is_no_moment_is_refused_with_what_was_expected() -> None:
    with pytest.raises(InvalidInput, match="--at 'soon': expected a date like 2026-05-12"):
        parse_when("soon", name="--at", now=NOW)


def test_moments_are_shown_in_local_time() -> None:
    assert shown(NOW) == "12 May 2026 11:30"
    assert shown(None) == ""
