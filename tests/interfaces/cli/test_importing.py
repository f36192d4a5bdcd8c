import contextlib
import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.domain.errors import InvalidInput
from commonplace.interfaces.cli.importing import Owner, parse_line
from tests.interfaces.cli.conftest import Cli

NOBODY = Owner(None, None, None)

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
    assert [bad["line"] for bad in ran.json["bad"]] == [3, 4, 6, 7]
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


def test_the_same_words_twice_are_two_messages_and_the_same_again_next_time() -> None:
    line = b'{"content": "ok"}'
    once, again = Counter[bytes](), Counter[bytes]()
    ids = [parse_line(line, NOBODY, once).message["id"] for _ in range(2)]
    assert len(set(ids)) == 2
    assert [parse_line(line, NOBODY, again).message["id"] for _ in range(2)] == ids
    assert parse_line(line, Owner("ana", None, None), again).message["id"] not in ids


@given(
    st.binary()
    | st.text().map(str.encode)
    | st.recursive(st.none() | st.text(), st.lists).map(json.dumps).map(str.encode)
)
def test_any_line_is_a_message_or_a_named_error(text: bytes) -> None:
    with contextlib.suppress(InvalidInput):
        assert parse_line(text, NOBODY, Counter()).message["content"]
