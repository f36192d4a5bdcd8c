from pathlib import Path

import pytest

from tests.interfaces.cli.conftest import Cli


@pytest.fixture(autouse=True)
def something(cli: Cli) -> None:
    cli("add", "I use Shram", "--user", "u1", "--id", "m1")


def test_a_snapshot_is_made_listed_verified_and_restored(cli: Cli, tmp_path: Path) -> None:
    made = cli("snapshot", "create", "--to", "backups", "--json").json
    assert made["counts"]["messages"] == 1
    assert [one["name"] for one in cli("snapshot", "list", "--at", "backups", "--json").json] == [made["name"]]
    assert "is whole" in cli("snapshot", "verify", "--at", "backups").out
    ran = cli("restore", made["name"], "--from", "backups", "--into", "back")
    assert (ran.code, "Counts and hashes agree." in ran.out) == (0, True)
    assert cli("recall", "", "--user", "u1", "--home", tmp_path / "back", "--json").json[0]["sources"] == ["m1"]
    assert cli("snapshot", "prune", "--at", "backups", "--keep", "1").out == "Removed 0, kept 1.\n"


def test_a_damaged_one_is_no(cli: Cli) -> None:
    made = cli("snapshot", "create", "--to", "backups", "--json").json
    Path("backups", "snapshots", made["name"], made["parts"][0]["name"]).write_bytes(b"")
    assert cli("snapshot", "verify", "--at", "backups").code == 1
    assert cli("restore", "--from", "backups", "--into", "back").code == 5


def test_wrong_use_says_what_was_expected(cli: Cli) -> None:
    assert "no place for snapshots is named" in cli("snapshot", "create").err
    assert cli("snapshot", "list", "--at", "ftp://x").code == 2
    absent = cli("restore", "latest", "--from", "nowhere", "--into", "back")
    assert (absent.code, f"in {Path.cwd() / 'nowhere'}: there is none" in absent.err) == (1, True)
    assert cli("restore", "../../etc", "--from", "nowhere", "--into", "back").code == 2
    assert cli("restore", "--into", "back").code == 2
