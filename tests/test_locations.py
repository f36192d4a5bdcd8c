"""What is made of the address of a memory, and what is shown of it: never a password, however oddly it is written."""

from pathlib import Path

import pytest

from commonplace import AsyncMemory
from commonplace.adapters.hashing import HashEmbedder
from commonplace.domain.errors import InvalidInput, LedgerUnavailable
from commonplace.wiring import moved
from commonplace.wiring.location import Location, checked, sqlite_file
from tests.servers import free_port


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


@pytest.mark.parametrize("text", ["postgresql:/ana:secret@db/memory", "postgres:memory", "sqlite:/data/memory.db"])
def test_an_address_that_lacks_its_slashes_is_not_taken_for_a_folder(text: str) -> None:
    with pytest.raises(InvalidInput, match=r"(sqlite|postgres(ql)?):…: expected \1://… for a database") as refused:
        Location.parse(text)
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize("text", ["sqlite", "postgresql", "./sqlite:data", "C:/data", "my:folder"])
def test_anything_else_is_a_folder(text: str) -> None:
    assert Location.parse(text) == Location(home=Path(text))


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


@pytest.mark.parametrize(
    ("url", "file"),
    [
        ("sqlite:///data/memory.db", "data/memory.db"),
        ("sqlite:////data/50%25%20%231%3F.db?mode=ro#x", "/data/50% #1?.db"),
        ("sqlite:////data/[1].db", "/data/[1].db"),
        ("sqlite://data/memory.db", None),  # two slashes: what comes next is a machine
        ("sqlite:///", None),
        ("postgresql:///memory", None),
    ],
)
def test_an_address_of_sqlite_names_a_file(url: str, file: str | None) -> None:
    assert sqlite_file(url) == (None if file is None else Path(file))


@pytest.mark.parametrize(
    "url", ["sqlite://data/memory.db", "sqlite://[", "POSTGRESQL://ana:hush@db/memory", "ana:hush@db/memory"]
)
async def test_an_address_that_no_ledger_has_is_refused_and_not_shown(url: str) -> None:
    with pytest.raises(InvalidInput, match="database_url: expected sqlite:///relative/path") as refused:
        await AsyncMemory.open(database_url=url)
    assert "hush" not in str(refused.value)


async def test_a_bracket_in_a_password_is_a_character_like_any_other(tmp_path: Path) -> None:
    url = f"postgresql://ana:hu[sh@127.0.0.1:{free_port()}/memory"
    with pytest.raises(LedgerUnavailable, match=r"postgresql://127\.0\.0\.1:\d+/memory: connection"):
        await AsyncMemory.open(url, home=tmp_path)


async def test_a_folder_that_cannot_be_looked_at_is_an_error_of_ours(tmp_path: Path) -> None:
    """Here because no name can be so long; more often because a folder on the way is somebody else's."""
    here, nowhere = tmp_path / "memory", tmp_path / ("x" * 300)
    async with AsyncMemory.open(here, embedder=HashEmbedder(dimensions=8)):
        pass
    with pytest.raises(LedgerUnavailable, match="x: File name too long"):
        await AsyncMemory.open(nowhere)
    with pytest.raises(LedgerUnavailable, match="x: File name too long"):
        await AsyncMemory.restore_snapshot(tmp_path / "backups", nowhere)
    for source, target in ((here, nowhere), (nowhere, here), (f"sqlite:///{nowhere}", here)):
        with pytest.raises(LedgerUnavailable, match="File name too long"):
            await moved(Location.parse(source), Location.parse(target), {}, in_use=False, progress=lambda *_: None)


def test_a_file_with_an_at_in_its_name_is_shown_whole() -> None:
    assert str(Location.parse("sqlite:////data/ana@home.db?mode=ro")) == "sqlite:////data/ana@home.db"
