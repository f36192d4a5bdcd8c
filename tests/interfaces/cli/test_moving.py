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
