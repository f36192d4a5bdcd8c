"""Options that several commands share, as values with names.

A command takes such a value as one parameter; `expanded` turns each of its fields into an option of the command line.
The options of `Everywhere` and its children may stand before the command or after it; what stands after it wins.
"""

import inspect
from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields, is_dataclass, replace
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_type_hints

import typer

from commonplace.domain.errors import InvalidInput
from commonplace.interfaces.cli.pipes import quietly_if_nobody_reads

Command = Callable[..., int | None]
E = TypeVar("E", bound="Everywhere")


@dataclass(frozen=True, slots=True, kw_only=True)
class Everywhere:
    home: Annotated[Path | None, typer.Option(help="The memory folder.", file_okay=False)] = None
    tenant: Annotated[str | None, typer.Option(help="Whose memories, above the user.")] = None
    settings: Annotated[Path | None, typer.Option(help="A YAML file with settings.", dir_okay=False)] = None
    json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print the answer only: no notes, no progress.")] = False
    no_color: Annotated[bool, typer.Option("--no-color", help="Print without colours.")] = False

    def overrides(self) -> dict[str, object]:
        """The settings that were given as options."""
        given = {"home": self.home, "tenant": self.tenant, "settings_file": self.settings}
        return {name: value for name, value in given.items() if value is not None}

    def of_every_tenant(self) -> dict[str, object]:
        """The same, for a command that is about all tenants at once."""
        if self.tenant is not None:
            raise InvalidInput(f"--tenant {self.tenant!r}: this command is about every tenant")
        return self.overrides()


@dataclass(frozen=True, slots=True, kw_only=True)
class OfUser(Everywhere):
    user: Annotated[
        str | None, typer.Option("--user", "-u", help="Whose memories. Without it: the anonymous user.")
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OfSession(OfUser):
    session: Annotated[str | None, typer.Option("--session", "-s", help="The conversation.")] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Moments:
    """The two time lines."""

    valid_at: Annotated[str | None, typer.Option(metavar="WHEN", help="What held at that moment.")] = None
    as_of: Annotated[str | None, typer.Option(metavar="WHEN", help="What was known at that moment.")] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Narrowing:
    limit: Annotated[int, typer.Option("--limit", "-n", help="At most so many.")] = 10
    kind: Annotated[list[str] | None, typer.Option(metavar="KIND", help="Of this kind only; may be repeated.")] = None
    where: Annotated[str | None, typer.Option(metavar="JSON", help='By metadata: {"stars": {"$gte": 3}}.')] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    since: Annotated[str | None, typer.Option(metavar="WHEN", help="Said then or later.")] = None
    until: Annotated[str | None, typer.Option(metavar="WHEN", help="Said before that.")] = None


def expanded(command: Command) -> Command:
    """Return the command as Typer can read it, every field of its option values a parameter of its own."""
    hints = get_type_hints(command, include_extras=True)
    own = inspect.signature(command).parameters
    groups = {
        name: hint for name, hint in hints.items() if name in own and is_dataclass(hint) and isinstance(hint, type)
    }

    @wraps(command)
    def run(**values: Any) -> int | None:
        context: typer.Context = values["context"] if "context" in own else values.pop("context")
        for name, group in groups.items():
            value = group(**{option.name: values.pop(option.name) for option in fields(group)})
            values[name] = _completed(value, context.obj) if isinstance(value, Everywhere) else value
        with quietly_if_nobody_reads():
            return command(**values)

    parameters = [inspect.Parameter("context", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)]
    for name in sorted(own, key=lambda name: issubclass(groups.get(name, object), Everywhere)):
        if name in groups:
            parameters += _parameters(groups[name])
        elif name != "context":
            parameters.append(own[name].replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=hints[name]))
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def _parameters(group: type) -> list[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(
            option.name,
            inspect.Parameter.KEYWORD_ONLY,
            annotation=hints[option.name],
            default=inspect.Parameter.empty if option.default is MISSING else option.default,
        )
        for option in fields(group)
    ]


def _completed(given: E, before: object) -> E:
    """Fill in what stood before the command; refuse what means nothing to it."""
    if not isinstance(before, Everywhere):
        return given
    known = {option.name: option.default for option in fields(given)}
    inherited: dict[str, Any] = {}
    for option in fields(before):
        value = getattr(before, option.name)
        if value == option.default:
            continue
        if option.name not in known:
            raise InvalidInput(f"--{option.name} {value!r}: this command is not about one {option.name}")
        if getattr(given, option.name) == known[option.name]:
            inherited[option.name] = value
    return replace(given, **inherited)
