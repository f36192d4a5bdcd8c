import json
from pathlib import Path

from tests.interfaces.cli.conftest import Cli

TOOLS = "I use Shram and Magnet as productivity tools"
EVIL = "<script>alert(1)</script> [click](http://x) # no heading\n1. no list"


def test_an_export_is_printed_as_json_lines(cli: Cli) -> None:
    cli("add", TOOLS, "--user", "ana")
    ran = cli("export", "--user", "ana")
    types = [json.loads(line)["type"] for line in ran.out.splitlines()]
    assert (ran.code, types[0], types[-1]) == (0, "commonplace", "end")
    assert TOOLS in ran.out


def test_an_export_is_one_document_on_request(cli: Cli) -> None:
    cli("add", TOOLS, "--user", "ana")
    shown = cli("export", "--user", "ana", "--json").json
    assert shown["counts"]["messages"] == 1
    assert shown["records"][0]["type"] == "commonplace"
    assert TOOLS in cli("export", "--user", "ana", "--json", "--format", "markdown").json["text"]


def test_an_export_goes_to_a_file_for_its_owner_only(cli: Cli, tmp_path: Path) -> None:
    cli("add", TOOLS, "--user", "ana")
    for form in ("jsonl", "markdown", "html"):
        ran = cli("export", "--user", "ana", "--out", f"ana.{form}", "--format", form, "--json")
        path = tmp_path / f"ana.{form}"
        assert (ran.code, ran.json["format"]) == (0, form)
        assert TOOLS in path.read_text()
        assert path.stat().st_mode & 0o777 == 0o600
    assert "Wrote 1 messages" in cli("export", "--user", "ana", "--out", "ana.jsonl").out


def test_the_readable_forms_say_since_when_and_from_which_words(cli: Cli) -> None:
    cli("add", TOOLS, "--user", "ana", "--session", "s1", "--at", "2024-05-01T10:00:00+00:00")
    cli("add", "I don't use Magnet anymore", "--user", "ana", "--session", "s2", "--at", "2024-06-01T10:00:00+00:00")
    cli("blocks", "set", "profile", "An engineer", "--user", "ana")
    for form in ("markdown", "html"):
        text = cli("export", "--user", "ana", "--format", form).out
        holds, ended = text.index("What holds"), text.index("What has ended")
        assert holds < text.index("Shram", holds) < ended < text.index("Magnet", ended)
        assert "until 2024" in text.replace("\\-", "-")
        assert "An engineer" in text
        assert text.index("2024", text.index("Conversations")) > ended


def test_nothing_that_was_said_acts_in_the_readable_forms(cli: Cli) -> None:
    cli("add", EVIL, "--user", "<img src=x>", "--session", "<b>")
    page = cli("export", "--user", "<img src=x>", "--format", "html").out
    assert "<script>" not in page
    assert "<img" not in page
    assert "<b>" not in page
    assert "&lt;script&gt;" in page
    text = cli("export", "--user", "<img src=x>", "--format", "markdown").out
    assert "\\<script\\>" in text
    assert "\\[click\\]" in text
    assert "\n1. no list" not in text


def test_somebody_who_holds_nothing_has_a_page_too(cli: Cli) -> None:
    assert "Nothing." in cli("export", "--user", "nobody", "--format", "markdown").out
    assert "</html>" in cli("export", "--format", "html").out


def test_a_place_that_cannot_be_written_is_named(cli: Cli, tmp_path: Path) -> None:
    ran = cli("export", "--out", str(tmp_path))
    assert (ran.code, "cannot be written: Is a directory" in ran.err) == (2, True)
    assert cli("export", "--format", "papyrus").code == 2
