from pathlib import Path

import pytest

from tests.interfaces.cli.conftest import Cli


def test_stats_say_what_there_is_and_what_answers_whom(cli: Cli) -> None:
    cli("add", "I use Shram", "--user", "ana", "--no-learn")
    figures = cli("stats", "--json").json
    assert figures["counts"]["messages"] == 1
    assert [(part["user"], part["answered_by"]) for part in figures["partitions"]] == [("ana", "exact")]
    shown = [line.split() for line in cli("stats").out.splitlines()]
    assert ["messages", "1"] in shown
    assert ["ana", "1", "exact", "0"] in shown


def test_stats_of_a_user_show_the_user_at_a_glance(cli: Cli) -> None:
    cli("remember", "Likes tea", "--user", "ana")
    assert cli("stats", "--user", "ana", "--json").json["facts"] == 1
    assert "Likes tea" in cli("--user", "ana", "stats").out


def test_a_tenant_may_come_from_the_environment(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMMONPLACE_TENANT", "acme")
    assert cli("stats", "--json").json["tenant"] == "acme"
    assert cli("stats", "--tenant", "other", "--json").json["tenant"] == "other"


def test_a_healthy_memory_is_said_to_be_so(cli: Cli) -> None:
    ran = cli("doctor")
    assert ran.code == 0
    assert "All is well." in ran.out


def test_what_the_doctor_finds_is_the_exit_code(cli: Cli) -> None:
    cli("add", "A message that no model could embed", "--no-learn")
    ran = cli("doctor", "--json")
    assert ran.code == 1
    assert [finding["check"] for finding in ran.json["findings"]] == ["vectors"]
    shown = cli("doctor").out
    assert shown.splitlines()[0].split() == ["check", "state", "finding"]
    assert "Not all is well" in shown


def test_a_damaged_ledger_has_its_own_exit_code(cli: Cli, home: Path) -> None:
    home.mkdir()
    (home / "ledger.db").write_bytes(b"this is not a database, whatever its name says" * 100)
    ran = cli("stats")
    assert (ran.code, ran.out) == (5, "")
    assert "ledger.db" in ran.err


def test_reindex_says_how_much_it_did(cli: Cli) -> None:
    cli("add", "I use Shram", "--no-learn")
    assert cli("reindex", "--json").json["rows"] == 1
    assert cli("reindex").out.startswith("Indexed 1 items")


def test_reindex_with_new_vectors_needs_a_model(cli: Cli) -> None:
    cli("add", "I use Shram", "--no-learn")
    ran = cli("reindex", "--embed")
    assert (ran.code, ran.out) == (4, "")
    assert "commonplace model fetch" in ran.err


def test_model_shows_where_it_would_come_from(cli: Cli, tmp_path: Path) -> None:
    ran = cli("model", "--json")
    assert ran.code == 1
    assert not ran.json["ready"]
    assert Path(ran.json["path"]).is_relative_to(tmp_path / "no-model")
    shown = cli("model", "show")
    assert "would try" in shown.out
    assert "Get it with: commonplace model fetch" in shown.out


@pytest.mark.usefixtures("with_model")
def test_a_model_that_is_there_is_shown_and_not_fetched_again(cli: Cli) -> None:
    ran = cli("model", "--json")
    assert (ran.code, ran.json["ready"]) == (0, True)
    assert "sha256" in cli("model").out
    assert cli("model", "fetch").out.startswith(f"Ready: {ran.json['identity']} in ")
