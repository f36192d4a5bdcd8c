import pytest

from tests.interfaces.cli.conftest import Cli


@pytest.fixture(autouse=True)
def an_old_message(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    cli("add", "I use Shram", "--user", "u1", "--id", "m1", "--at", "2020-01-01")
    monkeypatch.setenv("RETENTION_DAYS", "365")


def test_a_purge_is_previewed_and_then_done(cli: Cli) -> None:
    planned = cli("purge", "--dry-run")
    assert "would go" in planned.out and "1 messages" in planned.out
    purged = cli("purge", "--json").json
    assert (purged["applied"], purged["receipts"][0]["counts"]["ledger"]["messages"]) == (True, 1)
    assert cli("purge").out == "Nothing is due.\n"


def test_who_is_on_hold_stays(cli: Cli) -> None:
    assert "a lawsuit" in cli("hold", "--user", "u1", "--reason", "a lawsuit").out
    assert "u1 is on hold" in cli("purge").out
    refused = cli("forget", "--user", "u1", "--yes")
    assert (refused.code, "is on hold" in refused.err) == (1, True)
    assert [hold["user"] for hold in cli("holds", "--json").json] == ["u1"]
    assert cli("release", "--user", "u1").code == 0
    assert cli("release", "--user", "u1").code == 1
    assert cli("holds").out == "Nobody is on hold.\n"


def test_a_rule_that_is_none_is_refused(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RETENTION_DAYS", "letters=3")
    ran = cli("purge")
    assert (ran.code, "'letters' is none of message" in ran.err) == (2, True)
