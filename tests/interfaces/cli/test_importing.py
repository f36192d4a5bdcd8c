import json
from pathlib import Path

import pytest

from tests.interfaces.cli.conftest import Cli

LINES = [
    {"role": "user", "content": "The garden needs water", "at": "2024-05-01T10:00:00+00:00", "id": "g1"},
    {"role": "assistant", "content": "I will remind you.", "at": "2024-05-01T10:01:00+00:00"},
    {"role": "user", "text": "ok", "user": "ana", "session": "s9"},
    {"role": "user", "text": "ok", "user": "ana", "session": "s9"},
]


def jsonl(*lines: object) -> str:
    return "".join(f"{json.dumps(line)}\n" for line in lines)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "talk.jsonl"
    path.write_text(jsonl(*LINES))
    return path


def test_messages_keep_their_dates_and_ids(cli: Cli, file: Path) -> None:
    ran = cli("import", file, "--session", "s1")
    assert (ran.code, ran.out) == (0, "Imported 4 messages, made 0 changes to facts.\n")
    first, second = cli("sessions", "--session", "s1", "--json").json
    assert (first["id"], first["at"]) == ("g1", "2024-05-01T10:00:00+00:00")
    assert (second["role"], second["at"]) == ("assistant", "2024-05-01T10:01:00+00:00")


def test_a_line_may_say_whose_it_is(cli: Cli, file: Path) -> None:
    cli("import", file)
    said = cli("sessions", "--session", "s9", "--user", "ana", "--json").json
    assert [message["text"] for message in said] == ["ok", "ok"]


def test_importing_again_changes_nothing(cli: Cli, file: Path) -> None:
    cli("import", file)
    before = cli("stats", "--json").json["counts"]
    assert cli("import", file).code == 0
    assert cli("stats", "--json").json["counts"] == before


def test_facts_are_learned_unless_that_is_refused(cli: Cli) -> None:
    said = jsonl({"content": "I use Shram and Magnet as productivity tools", "id": "m1"})
    assert cli("import", "-", "--no-learn", "--json", "--user", "ben", stdin=said).json["changes"] == 0
    assert cli("import", "-", "--json", "--user", "ana", stdin=said).json["changes"] == 2


def test_bad_lines_are_reported_with_their_number_and_the_rest_is_imported(cli: Cli) -> None:
    good, also_good = '{"content": "good"}', '{"content": "also good"}'
    lines = "\n".join([good, "", "not json", '{"content": "x", "rôle": 1}', also_good, "[]", '{"id": "no text"}'])
    ran = cli("import", "-", "--json", stdin=lines)
    assert (ran.code, ran.json["messages"]) == (1, 2)
    assert [bad["place"] for bad in ran.json["bad"]] == ["line 3", "line 4", "line 6", "line 7"]
    shown = cli("import", "-", stdin=lines).out
    assert "line 3: not JSON" in shown
    assert "left out 4 bad lines" in shown


def test_a_file_that_is_not_there_is_named(cli: Cli) -> None:
    ran = cli("import", "missing.jsonl")
    assert (ran.code, ran.err) == (2, "commonplace: missing.jsonl: cannot be read: No such file or directory\n")


def test_a_long_file_with_one_id_twice_is_imported(cli: Cli) -> None:
    lines = [{"content": f"note {number}", "id": f"n{number % 600}"} for number in range(601)]
    ran = cli("import", "-", "--json", "--no-learn", stdin=jsonl(*lines))
    assert ran.code == 0
    assert cli("stats", "--json").json["counts"]["messages"] == 600


def test_an_export_comes_back_as_it_was(cli: Cli, file: Path, tmp_path: Path) -> None:
    cli("import", file, "--user", "ana")
    assert cli("export", "--user", "ana", "--out", "ana.jsonl").code == 0
    before = cli("export", "--user", "ana").out
    assert cli("import", "ana.jsonl", "--json").json["known"]["messages"] == 4
    cli("forget", "--user", "ana", "--yes")
    refused = cli("import", "ana.jsonl")
    assert refused.code == 1
    assert "4 messages, 1 sessions were forgotten here and left out; --bring-back" in refused.out
    brought = cli("import", "ana.jsonl", "--bring-back", "--json")
    assert (brought.code, brought.json["format"], brought.json["messages"]) == (0, "commonplace", 4)
    lines = cli("export", "--user", "ana").out.splitlines()
    assert [line for line in lines if '"type":"erasure"' not in line][:-1] == before.splitlines()[:-1]


def test_a_dry_run_counts_and_changes_nothing(cli: Cli, file: Path) -> None:
    ran = cli("import", file, "--dry-run")
    assert (ran.code, ran.out) == (0, "Would import 4 messages.\n")
    assert cli("stats", "--json").json["counts"]["messages"] == 0


def test_strict_stops_at_the_first_bad_line(cli: Cli) -> None:
    ran = cli("import", "-", "--strict", stdin='{"content": "good"}\n{\n{"content": "never"}\n')
    assert ran.code == 2
    assert "line 2: not JSON" in ran.err
    assert cli("stats", "--json").json["counts"]["messages"] == 1


def test_an_unknown_form_is_named(cli: Cli, file: Path) -> None:
    ran = cli("import", file, "--format", "papyrus")
    assert (ran.code, "format='papyrus': expected one of auto" in ran.err) == (2, True)
