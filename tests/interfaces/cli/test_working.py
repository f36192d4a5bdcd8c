from tests.interfaces.cli.conftest import Cli


def test_blocks_are_listed_in_their_order(cli: Cli) -> None:
    assert cli("blocks").out == "No blocks.\n"
    cli("blocks", "set", "profile", "Likes tea")
    cli("blocks", "set", "persona", "A butler", "--order", "0")
    cli("blocks", "append", "profile", "-", stdin="Likes toast")
    listed = cli("blocks", "list", "--json").json
    assert [block["name"] for block in listed] == ["persona", "profile"]
    assert listed[1]["text"] == "Likes tea\nLikes toast"
    assert [line.split()[0] for line in cli("blocks").out.splitlines()] == ["name", "persona", "profile", "Likes"]


def test_a_block_belongs_to_one_user(cli: Cli) -> None:
    cli("--user", "ana", "blocks", "set", "profile", "Likes tea")
    assert cli("blocks", "--json").json == []
    assert len(cli("blocks", "--user", "ana", "--json").json) == 1
    assert len(cli("blocks", "--user", "ana", "list", "--json").json) == 1


def test_a_deleted_block_is_gone(cli: Cli) -> None:
    cli("blocks", "set", "profile", "Likes tea")
    assert cli("blocks", "delete", "profile").out == "Deleted profile.\n"
    assert cli("blocks", "delete", "profile").code == 1


def test_sessions_and_their_messages(cli: Cli) -> None:
    assert cli("sessions").out == "No active sessions.\n"
    cli("add", "Hello there", "--session", "s1", "--no-learn")
    [session] = cli("sessions", "--json").json
    assert (session["id"], session["messages"]) == ("s1", 1)
    assert cli("sessions").out.splitlines()[1].split()[:2] == ["s1", "1"]
    assert "Hello there" in cli("sessions", "--session", "s1").out
    assert cli("sessions", "--session", "s2").out == "No messages.\n"
