"""What is shown of where a memory is kept: never a password, however oddly it is written."""

import pytest

from commonplace.domain.errors import InvalidInput
from commonplace.wiring.location import Location, checked


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://ana:secret@db.example:5432/memory?password=secret", "postgresql://db.example:5432/memory"),
        ("postgresql:///memory?host=/run/secret", "postgresql:///memory"),
        ("postgresql://ana:se#secret@db/memory", "postgresql://db/memory"),
        ("postgresql://ana:se?secret@db/memory?sslmode=require", "postgresql://db/memory"),
        ("postgresql://ana:se@secret@db/memory", "postgresql://db/memory"),
        ("postgresql://ana:se/secret@db/memory", "postgresql://db/memory"),
        ("postgresql://db/memory?application_name=me@secret", "postgresql://db/memory"),
        ("sqlite:///data/memory.db", "sqlite:///data/memory.db"),
    ],
)
def test_a_place_is_shown_without_user_password_and_options(url: str, shown: str) -> None:
    assert str(Location.parse(url)) == shown


@pytest.mark.parametrize("password", ["se@secret", "se/secret", "se/se?secret", "se/se?se#secret@"])
def test_a_password_that_has_to_be_encoded_is_refused_and_not_shown(password: str) -> None:
    with pytest.raises(InvalidInput, match=r"database_url: .*%40") as refused:
        checked("database_url", f"postgresql://ana:{password}@db/memory?sslmode=require")
    assert "secret" not in str(refused.value)


def test_characters_that_libpq_takes_in_a_password_are_taken() -> None:
    for url in (
        "postgresql://ana:a#b?c:d%40@db/memory?x=a@b",
        "postgresql://db/memory",
        "postgresql:///memory?host=/a@b",
    ):
        assert checked("database_url", url) == url
