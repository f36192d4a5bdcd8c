from pathlib import Path

import pytest

from tests.interfaces.cli.conftest import Cli


@pytest.fixture(autouse=True)
def something(cli: Cli) -> None:
    cli("add", "I use Shram", "--user", "u1", "--id", "m1")


def test_a_memory_is_moved_and_answers_from_its_new_place(cli: Cli, home: Path, tmp_path: Path) -> None:
    done = cli("migrate", home, tmp_path / "moved", "--json").json
    assert (done["counts"]["messages"], done["users"], done["resumed"]) == (1, 1, False)
    assert cli("recall", "", "--user", "u1", "--home", tmp_path / "moved", "--json").json[0]["sources"] == ["m1"]
    told = cli("migrate", f"sqlite:///{home}/ledger.db", "sqlite:///again.db")
    assert (told.code, "Counts and hashes agree." in told.out) == (0, True)


def test_a_move_that_is_done_is_found_whole_when_it_is_run_again(cli: Cli, home: Path) -> None:
    cli("migrate", home, "moved")
    again = cli("migrate", home, "moved", "--json")
    assert (again.code, again.json["resumed"], again.json["counts"]["messages"]) == (0, True, 1)


def test_wrong_use_says_what_was_expected(cli: Cli, home: Path) -> None:
    assert cli("migrate", home).code == 2
    assert cli("migrate", home, "").code == 2
    assert cli("migrate", "nowhere", "new").code == 2
    cli("add", "I use Magnet", "--user", "u2", "--home", "taken")
    taken = cli("migrate", home, "taken")
    assert (taken.code, "expected an empty one" in taken.err) == (2, True), taken.err
    for nothing in (["sqlite://memory.db", "new"], [home, "sqlite://memory.db"]):
        wrong = cli("migrate", *nothing)
        assert (wrong.code, "expected sqlite:///relative/path" in wrong.err) == (2, True), wrong.err
    refused = cli("migrate", home, "mysql://user:secret@host/db")
    assert (refused.code, "secret" in refused.err) == (2, False)
    named = cli("migrate", home / "ledger.db", "new")
    assert (named.code, f"expected a folder, or sqlite:///{home / 'ledger.db'} for" in named.err) == (2, True)
    tenant = cli("--tenant", "acme", "migrate", home, "new")
    assert (tenant.code, "--tenant 'acme': this command is about every tenant" in tenant.err) == (2, True)
    assert not Path("new").exists()


def test_the_files_of_a_snapshot_go_to_the_home_that_is_named(cli: Cli, tmp_path: Path, postgres_database: str) -> None:
    Path("note.txt").write_text("The ferry leaves at nine")
    cli("add", "See the note", "--user", "u1", "--id", "m2", "--attach", "note.txt")
    cli("snapshot", "create", "--to", "backups")
    restore = ("restore", "--from", "backups", "--into", postgres_database)
    assert cli("--tenant", "acme", *restore).code == 2
    assert cli(*restore, "--home", tmp_path / "files").code == 0
    assert [file.read_text() for file in (tmp_path / "files").rglob("*") if file.is_file()] == [
        "The ferry leaves at nine"
    ]


def test_the_files_of_a_server_are_in_the_home_that_is_named(
    cli: Cli, home: Path, tmp_path: Path, postgres_database: str
) -> None:
    Path("note.txt").write_text("The ferry leaves at nine")
    cli("add", "See the note", "--user", "u1", "--id", "m2", "--attach", "note.txt")
    there = tmp_path / "files"
    assert cli("migrate", home, postgres_database, "--home", there).code == 0
    assert [file.read_text() for file in there.rglob("*") if file.is_file()] == ["The ferry leaves at nine"]
    elsewhere = cli("migrate", postgres_database, "back")
    assert (elsewhere.code, f"has no file in {home / 'attachments'}" in elsewhere.err) == (4, True)
    assert cli("migrate", postgres_database, "back", "--home", there).code == 0
    without = cli("migrate", postgres_database, "without", "--without-lost-files")
    assert (without.code, "1 attachments had no file at the source." in without.out) == (0, True)
