"""What a part logs while a command runs."""

import json
import logging

import pytest

from commonplace.interfaces.cli.app import run
from commonplace.interfaces.cli.logs import Notes


def logged(name: str = "commonplace.recall.projector") -> logging.LogRecord:
    return logging.LogRecord(name, logging.WARNING, __file__, 1, "could not be fed (attempt %d)", (1,), None)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [(["--version"], "could not be fed (attempt 1)\n"), (["--version", "--quiet"], ""), (["--version", "-q"], "")],
)
def test_it_is_told_beside_the_answer(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, arguments: list[str], told: str
) -> None:
    monkeypatch.setattr(logging, "lastResort", None)
    run(arguments)
    capsys.readouterr()
    assert logging.lastResort is not None
    logging.lastResort.handle(logged())
    assert capsys.readouterr().err == told


def test_with_json_it_is_one_object_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    Notes(as_json=True, quiet=False).handle(logged())
    assert json.loads(capsys.readouterr().err) == {"note": "could not be fed (attempt 1)"}


def test_a_connection_that_was_lost_and_made_again_is_nobodys_business(capsys: pytest.CaptureFixture[str]) -> None:
    Notes(as_json=False, quiet=False).handle(logged("psycopg.pool"))
    assert capsys.readouterr().err == ""
