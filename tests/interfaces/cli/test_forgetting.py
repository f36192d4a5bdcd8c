import pytest

from tests.interfaces.cli.conftest import Cli


@pytest.fixture(autouse=True)
def two_users(cli: Cli) -> None:
    cli("add", "I use Shram", "--user", "u1", "--session", "s1", "--id", "m1")
    cli("add", "I like tea", "--user", "u1", "--session", "s2", "--id", "m2")
    cli("add", "I use Magnet", "--user", "u2", "--id", "m1")


def messages(cli: Cli, user: str) -> list[str]:
    return sorted(item["id"] for item in cli("recall", "", "--user", user, "--kind", "message", "--json").json)


def test_a_user_is_forgotten_and_the_receipt_is_shown(cli: Cli) -> None:
    ran = cli("forget", "--user", "u1", "--yes")
    assert ran.code == 0
    assert ran.out.startswith("Forgot 2 messages, 2 facts, 2 sessions.\n")
    assert "ledger, cache, index, files" in ran.out
    assert (messages(cli, "u1"), messages(cli, "u2")) == ([], ["m1"])


@pytest.mark.parametrize("part", [["--session", "s1"], ["--message", "m1"]])
def test_a_part_of_a_user_is_forgotten(cli: Cli, part: list[str]) -> None:
    receipt = cli("forget", "--user", "u1", *part, "--yes", "--json").json
    assert receipt["counts"]["ledger"]["messages"] == 1
    assert (messages(cli, "u1"), messages(cli, "u2")) == (["m2"], ["m1"])


def test_what_was_said_before_a_moment_is_forgotten(cli: Cli) -> None:
    assert cli("forget", "--user", "u1", "--before", "yesterday", "--yes").out.startswith("Forgot nothing.")
    cli("forget", "--user", "u1", "--before", "tomorrow", "--yes")
    assert messages(cli, "u1") == []


def test_a_dry_run_says_what_would_go_and_changes_nothing(cli: Cli) -> None:
    ran = cli("forget", "--user", "u1", "--dry-run")
    assert (ran.code, ran.out) == (0, "Would forget 2 messages, 2 facts, 2 sessions.\n")
    assert cli("forget", "--user", "u1", "--dry-run", "--json").json["at"] is None
    assert messages(cli, "u1") == ["m1", "m2"]


def test_without_yes_and_without_a_terminal_nothing_is_forgotten(cli: Cli) -> None:
    ran = cli("forget", "--user", "u1")
    assert ran.code == 2
    assert "--yes" in ran.err
    assert messages(cli, "u1") == ["m1", "m2"]


def test_nothing_named_is_refused(cli: Cli) -> None:
    ran = cli("forget", "--yes")
    assert ran.code == 2
    assert "nothing is named" in ran.err


def test_a_message_that_is_not_there_is_not_found(cli: Cli) -> None:
    assert cli("forget", "--user", "u1", "--message", "m9", "--yes").code == 1


def test_a_fact_is_forgotten_and_its_messages_are_said_to_stay(cli: Cli) -> None:
    [fact, *_] = cli("facts", "--user", "u1", "--json").json
    ran = cli("forget", "--user", "u1", "--fact", fact["id"], "--yes")
    assert "the messages that said it are kept" in ran.out
    assert fact["id"] not in [one["id"] for one in cli("facts", "--user", "u1", "--json").json]


def test_a_whole_tenant_is_named_once_more(cli: Cli) -> None:
    assert cli("forget", "--whole-tenant", "other", "--yes").code == 2
    ran = cli("forget", "--whole-tenant", "default", "--dry-run")
    assert ran.out.startswith("Would forget 2 users, 3 messages,")
    receipt = cli("forget", "--whole-tenant", "default", "--yes", "--json").json
    assert (receipt["tenant"], receipt["counts"]["ledger"]["users"]) == ("default", 2)
    assert (messages(cli, "u1"), messages(cli, "u2")) == ([], [])
