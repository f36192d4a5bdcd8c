"""Tried on a command of their own, which says what it was given."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import pytest
import typer

from commonplace.domain.errors import InvalidInput
from commonplace.interfaces.cli.options import Everywhere, Moments, OfSession, OfUser, expanded

given: dict[str, object] = {}


def root(context: typer.Context, call: OfSession) -> None:
    context.obj = call


def ask(call: OfUser, moments: Moments, what: Annotated[str, typer.Argument()] = "") -> None:
    given.update({**asdict(call), **asdict(moments), "what": what})


def tidy(call: Everywhere) -> None:
    given.update(asdict(call))


@pytest.fixture
def app() -> typer.Typer:
    given.clear()
    app = typer.Typer(rich_markup_mode=None)
    app.callback()(expanded(root))
    app.command()(expanded(ask))
    app.command()(expanded(tidy))
    return app


def test_each_field_is_an_option(app: typer.Typer) -> None:
    app(["ask", "why", "--valid-at", "yesterday", "--home", "/m", "--json"], standalone_mode=False)
    assert given == {
        "home": Path("/m"),
        "tenant": None,
        "settings": None,
        "json": True,
        "quiet": False,
        "no_color": False,
        "user": None,
        "valid_at": "yesterday",
        "as_of": None,
        "what": "why",
    }


def test_an_option_may_stand_before_the_command(app: typer.Typer) -> None:
    app(["--user", "ana", "--quiet", "ask"], standalone_mode=False)
    assert (given["user"], given["quiet"]) == ("ana", True)


def test_what_stands_after_the_command_wins(app: typer.Typer) -> None:
    app(["--user", "ana", "ask", "--user", "ben"], standalone_mode=False)
    assert given["user"] == "ben"


def test_an_option_that_means_nothing_to_the_command_is_refused(app: typer.Typer) -> None:
    with pytest.raises(InvalidInput, match="--user 'ana': this command is not about one user"):
        app(["--user", "ana", "tidy"], standalone_mode=False)


def test_options_that_were_given_become_settings() -> None:
    assert Everywhere().overrides() == {}
    assert Everywhere(home=Path("/m"), settings=Path("s.yaml")).overrides() == {
        "home": Path("/m"),
        "settings_file": Path("s.yaml"),
    }
