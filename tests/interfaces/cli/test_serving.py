from tests.interfaces.cli.conftest import Cli


def test_a_key_is_shown_once_listed_without_its_secret_and_revoked(cli: Cli) -> None:
    made = cli("key", "create", "--tenant", "acme", "--user", "ana", "--role", "read", "--label", "x", "--json").json
    assert made["token"].startswith(f"cp_{made['id']}_")
    listed = cli("key", "list", "--json")
    assert made["token"].removeprefix(f"cp_{made['id']}_") not in listed.out
    (key,) = listed.json
    assert (key["id"], key["tenant"], key["user"], key["role"]) == (made["id"], "acme", "ana", "read")
    assert cli("key", "revoke", made["id"]).code == 0
    assert cli("key", "list", "--json").json[0]["revoked_at"] is not None
    assert cli("key", "revoke", made["id"]).code == 1


def test_a_key_that_makes_no_sense_is_refused(cli: Cli) -> None:
    assert cli("key", "create", "--role", "god").code == 2
    assert cli("key", "create", "--expires", "2001-01-01T00:00:00+00:00").code == 2
    assert cli("key", "create", "--expires", "tomorrow").code == 2
    assert cli("key", "list", "--json").json == []


def test_a_service_for_others_needs_a_key_first(process: Cli) -> None:
    refused = process("serve", "--host", "0.0.0.0", "--port", "0")
    assert refused.code == 2
    assert "key create" in refused.err
