from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.interfaces.cli.conftest import Cli


def fact_ids(cli: Cli) -> list[str]:
    return [fact["id"] for fact in reversed(cli("facts", "--json").json)]


def test_what_was_added_is_found_by_its_words(cli: Cli) -> None:
    added = cli("add", "I use Shram", "--user", "u1", "--session", "s1", "--id", "m1", "--json")
    assert (added.code, added.json["messages"]) == (0, ["m1"])
    found = cli("recall", "Shram", "--user", "u1", "--json", "--kind", "message")
    assert (found.code, [item["id"] for item in found.json]) == (0, ["m1"])
    assert cli("recall", "Shram", "--user", "u2").code == 1


def test_a_message_keeps_how_it_was_said(cli: Cli) -> None:
    saying = ["--role", "assistant", "--name", "Ada", "--at", "2026-05-12T09:30:00Z", "--metadata", '{"topic": "work"}']
    cli("add", "Noted.", "--session", "s1", "--id", "m1", *saying)
    [message] = cli("sessions", "--session", "s1", "--json").json
    assert (message["role"], message["name"], message["metadata"]) == ("assistant", "Ada", {"topic": "work"})
    assert datetime.fromisoformat(message["at"]) == datetime(2026, 5, 12, 9, 30, tzinfo=UTC)


def test_a_dash_reads_the_text_from_stdin(cli: Cli) -> None:
    cli("add", "-", "--session", "s1", stdin="several\nlines, naïve ones")
    assert cli("sessions", "--session", "s1", "--json").json[0]["text"] == "several\nlines, naïve ones"


def test_adding_says_what_was_learned(cli: Cli) -> None:
    ran = cli("add", "I use Shram and Magnet as productivity tools", "--id", "m1")
    assert [line.strip() for line in ran.out.splitlines()[::2]] == ["Kept m1.", *fact_ids(cli)]
    assert [line.split()[0] for line in ran.out.splitlines()[1::2]] == ["learned", "learned"]
    assert cli("add", "Hm.", "--id", "m2").out == "Kept m2.\n"


def test_without_learning_only_the_message_is_kept(cli: Cli) -> None:
    assert cli("add", "I use Shram", "--no-learn", "--json").json["changes"] == []
    assert cli("facts").out == "No facts.\n"


def test_without_a_model_it_says_what_to_do(cli: Cli) -> None:
    ran = cli("add", "I use Shram")
    assert ran.code == 0
    assert "commonplace model fetch" in ran.err
    assert cli("add", "I use Shram", "--quiet").err == ""


def test_a_fact_has_a_life(cli: Cli) -> None:
    fact = cli("remember", "Allergic to peanuts", "--importance", "0.9", "--kind", "semantic", "--json").json
    assert (fact["text"], fact["importance"], fact["kind"]) == ("Allergic to peanuts", 0.9, "semantic")
    cli("revise", fact["id"], "Allergic to nuts", "--reason", "told so")
    assert [listed["text"] for listed in cli("facts", "--json").json] == ["Allergic to nuts"]
    cli("revise", fact["id"], "--metadata", '{"from": "doctor"}', "--expires-at", "2999-01-01")
    never = cli("revise", fact["id"], "--expires-at", "never", "--json").json
    assert (never["text"], never["metadata"], never["expires_at"]) == ("Allergic to nuts", {"from": "doctor"}, None)
    cli("retract", fact["id"])
    assert cli("facts", "--json").json == []
    cli("retract", fact["id"], "--undo")
    history = cli("history", fact["id"], "--json").json
    changes = [change["change"] for version in history for change in version["changes"]]
    assert changes == ["remembered", "revised", "revised", "revised", "retracted", "restored"]
    assert "told so" in cli("history", fact["id"]).out


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["add", "hi", "--role", "king"], "role='king': expected one of user, assistant, system, tool"),
        (["add", "hi", "--at", "soon"], "--at 'soon': expected a date"),
        (["add", "hi", "--metadata", "{"], "--metadata '{': expected JSON"),
        (["add", "hi", "--metadata", "[]"], "--metadata '[]': expected a JSON object"),
        (["add", " "], "content=' ': expected some text"),
        (["remember", "x", "--importance", "2"], "importance=2.0: expected a number from 0 to 1"),
        (["recall", "x", "--limit", "-1"], "limit=-1: expected a whole number"),
        (["recall", "x", "--where", '{"a": {"$near": 1}}'], "$near"),
        (["--session", "s1", "facts"], "--session 's1': this command is not about one session"),
        (["facts", "--settings", "missing.yaml"], "settings_file='missing.yaml': cannot be read"),
    ],
)
def test_a_wrong_argument_is_refused_with_the_value(arguments: list[str], complaint: str, cli: Cli) -> None:
    ran = cli(*arguments)
    assert (ran.code, ran.out) == (2, "")
    assert complaint in ran.err


def test_an_unknown_fact_is_not_found(cli: Cli) -> None:
    for command in (["history", "f1"], ["retract", "f1"], ["revise", "f1", "x"], ["retract", "f1", "--undo"]):
        ran = cli(*command, "--json")
        assert (ran.code, ran.out) == (1, "")
        assert ran.err == '{"error": "NotFound", "message": "no fact with id \'f1\' for this user"}\n'


def test_a_file_goes_with_a_message_and_can_be_had_again(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "trip.md").write_text("The ferry to Quillon leaves at seven.")
    added = cli("add", "See the plan", "--attach", str(tmp_path / "trip.md"), "--caption", "archipelago", "--json")
    assert added.code == 0
    (found,) = cli("recall", "ferry to Quillon", "--json").json
    (file,) = found["attachments"]
    assert (found["text"], file["name"], file["caption"]) == ("See the plan", "trip.md", "archipelago")
    assert "trip.md" in cli("recall", "archipelago").out
    assert cli("attachment", file["id"], "--to", str(tmp_path / "copy.md"), "--json").json["size"] == 37
    assert (tmp_path / "copy.md").read_text() == "The ferry to Quillon leaves at seven."
    assert cli("attachment", file["id"], "--user", "somebody else").code == 1
    assert cli("add", "x", "--attach", str(tmp_path / "nothing.md")).code == 2
    assert cli("add", "x", "--caption", "of nothing").code == 2
