"""The memory that a command works on, and words that come from the command line or from stdin."""

import json
import sys
from typing import TYPE_CHECKING, cast

import commonplace
from commonplace.domain.errors import InvalidInput
from commonplace.domain.values import Json
from commonplace.interfaces.cli.options import Everywhere

if TYPE_CHECKING:
    from commonplace import Memory
    from commonplace.settings import Settings


def settings_of(call: Everywhere) -> "Settings":
    from commonplace.settings import Settings  # loads pydantic, which `--help` does without

    return Settings.from_sources(**call.overrides())


def open_memory(call: Everywhere, **settings: object) -> "Memory":
    given = {**call.overrides(), **settings}
    return commonplace.Memory.open(**given)  # type: ignore[arg-type]  # each setting is checked when it is read


def text_of(words: str) -> str:
    """Return the text; `-` stands for stdin."""
    return sys.stdin.read() if words == "-" else words


def object_of(text: str | None, *, name: str) -> dict[str, Json] | None:
    """Parse an option that is a JSON object."""
    if text is None:
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"{name} {text!r}: expected JSON: {error}") from None
    if not isinstance(value, dict):
        raise InvalidInput(f"{name} {text!r}: expected a JSON object")
    return cast(dict[str, Json], value)
