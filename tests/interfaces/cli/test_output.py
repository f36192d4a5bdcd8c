import io
import json
import sys
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.domain.plain import as_json
from commonplace.interfaces.cli.options import Everywhere
from commonplace.interfaces.cli.output import Output, write_json
from commonplace.interfaces.cli.screen import Screen, harmless


@dataclass(frozen=True, slots=True)
class Thing:
    at: datetime
    parts: tuple[str, ...]


def test_values_become_objects_and_moments_iso_strings() -> None:
    thing = Thing(datetime(2026, 5, 12, 9, 30, tzinfo=UTC), ("a", "b"))
    assert as_json([thing]) == [{"at": "2026-05-12T09:30:00+00:00", "parts": ["a", "b"]}]


def test_what_has_no_form_in_json_is_not_guessed() -> None:
    with pytest.raises(TypeError, match="object has no form in JSON"):
        as_json({"what": object()})


@given(st.text(st.characters()))
def test_any_text_survives_json(text: str) -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdout", stream)
        write_json({"text": text})
        stream.flush()
    written = stream.buffer.getvalue()
    assert json.loads(written) == {"text": text}


def test_a_terminal_without_unicode_gets_json_it_can_show(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", stream)
    write_json("naïve")
    stream.flush()
    assert stream.buffer.getvalue() == b'"na\\u00efve"\n'


@given(st.text(st.characters()))
def test_no_text_can_act_on_the_terminal(text: str) -> None:
    shown = harmless(text)
    assert not {"\x1b", "\x07", "\r", "\x9b", "\u202e"} & set(shown)
    shown.encode()


def test_brackets_in_a_text_are_not_markup(capsys: pytest.CaptureFixture[str]) -> None:
    Screen().table(["text"], [["[red]stop[/red] :smile: \x1b[31m"]])
    assert capsys.readouterr().out.split("\n")[1].strip() == "[red]stop[/red] :smile: \\x1b[31m"


def test_notes_go_to_stderr_and_not_at_all_when_quiet(capsys: pytest.CaptureFixture[str]) -> None:
    Output(Everywhere()).note("no model")
    Output(Everywhere(json=True)).note("no model")
    Output(Everywhere(quiet=True)).note("no model")
    assert capsys.readouterr() == ("", 'no model\n{"note": "no model"}\n')


def test_progress_is_not_shown_where_nobody_sees_it(capsys: pytest.CaptureFixture[str]) -> None:
    with Output(Everywhere()).progress() as report:
        report("Importing", 1, 2)
    assert capsys.readouterr() == ("", "")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_is_shown_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    with Output(Everywhere()).progress() as report:
        report("Importing", 1, 2)
    assert "Importing" in terminal.getvalue()


def test_colours_are_for_terminals_and_can_be_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")

    def printed(*, color: bool) -> str:
        terminal = Terminal()
        monkeypatch.setattr(sys, "stdout", terminal)
        Screen(color=color).say("fine", style="green")
        return terminal.getvalue()

    assert printed(color=True) == "\x1b[32mfine\x1b[0m\n"
    assert printed(color=False) == "fine\n"
