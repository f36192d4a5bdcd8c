"""The table of commands, and the outer edge: every error becomes one message and one exit code."""

import sys
import traceback
from collections.abc import Mapping, Sequence
from io import TextIOWrapper
from typing import Annotated, Protocol, runtime_checkable

import typer

from commonplace.interfaces.cli import (
    attaching,
    benching,
    consolidating,
    demo,
    exporting,
    finding,
    forgetting,
    importing,
    keeping,
    learning,
    mcp,
    migrating,
    models,
    moving,
    retaining,
    serving,
    snapshots,
    upkeep,
    working,
)
from commonplace.interfaces.cli.chat.command import chat
from commonplace.interfaces.cli.exits import Exit, code_of
from commonplace.interfaces.cli.logs import tell_as_notes
from commonplace.interfaces.cli.options import Command, Everywhere, OfSession, OfUser, expanded
from commonplace.interfaces.cli.output import write_json
from commonplace.interfaces.cli.pipes import quietly_if_nobody_reads
from commonplace.interfaces.cli.signals import ended_by_sigterm

COMMANDS: dict[str, Command] = {
    "demo": demo.demo,
    "chat": chat,
    "add": keeping.add,
    "attachment": attaching.attachment,
    "recall": finding.recall,
    "why-not": finding.why_not,
    "context": finding.context,
    "facts": finding.facts,
    "history": finding.history,
    "remember": keeping.remember,
    "revise": keeping.revise,
    "retract": keeping.retract,
    "sessions": working.sessions,
    "forget": forgetting.forget,
    "purge": retaining.purge,
    "hold": retaining.hold,
    "release": retaining.release,
    "holds": retaining.holds,
    "export": exporting.export,
    "import": importing.import_file,
    "learn": learning.learn,
    "relearn": learning.relearn,
    "worker": learning.worker,
    "consolidate": consolidating.consolidate,
    "serve": serving.serve,
    "open": serving.open_page,
    "mcp": mcp.mcp,
    "restore": snapshots.restore,
    "migrate": moving.migrate,
    "migrate-embeddings": migrating.migrate_embeddings,
    "stats": upkeep.stats,
    "doctor": upkeep.doctor,
    "reindex": upkeep.reindex,
}
BLOCKS: dict[str, Command] = {
    "list": working.list_blocks,
    "set": working.set_block,
    "append": working.append_block,
    "delete": working.delete_block,
}
KEYS: dict[str, Command] = {"create": serving.create_key, "list": serving.list_keys, "revoke": serving.revoke_key}
SNAPSHOT: dict[str, Command] = {
    "create": snapshots.create,
    "list": snapshots.list_snapshots,
    "verify": snapshots.verify,
    "prune": snapshots.prune,
}
MODEL: dict[str, Command] = {"show": models.show, "fetch": models.fetch}
ANYTHING = {"allow_extra_args": True, "ignore_unknown_options": True}


def _show_version(asked: bool) -> None:
    if asked:
        from importlib.metadata import PackageNotFoundError, version  # takes longer to load than all of `--help`

        try:
            installed = version("commonplace")
        except PackageNotFoundError:
            installed = "(not installed: run from its source)"
        typer.echo(f"commonplace {installed}")
        raise typer.Exit


def _everywhere(
    context: typer.Context,
    call: OfSession,
    version: Annotated[
        bool, typer.Option("--version", help="Show the version.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    """Long-term memory for LLM agents and chat apps."""
    context.obj = call


def _blocks(context: typer.Context, call: OfUser) -> None:
    """List or change what is always in the prompt."""
    context.obj = call
    if context.invoked_subcommand is None:
        working.list_blocks(call)


def _model(context: typer.Context, call: Everywhere) -> int | None:
    """Show where the embedding model is from, or fetch it."""
    context.obj = call
    return models.show(call) if context.invoked_subcommand is None else None


def _keys(context: typer.Context, call: Everywhere) -> None:
    """List, make or revoke the keys of the service."""
    context.obj = call
    if context.invoked_subcommand is None:
        serving.list_keys(call)


def _snapshot(context: typer.Context, call: Everywhere) -> None:
    """Make, list, verify or remove snapshots."""
    context.obj = call
    if context.invoked_subcommand is None:
        snapshots.list_snapshots(call)


def _group(callback: Command, commands: Mapping[str, Command], *, default: bool) -> typer.Typer:
    # Help in plain text: loading rich for it would take as long as all the rest.
    group = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False, add_completion=not default)
    group.callback(invoke_without_command=default, no_args_is_help=not default)(expanded(callback))
    for name, command in commands.items():
        group.command(name)(expanded(command))
    return group


def _bench() -> typer.Typer:
    group = typer.Typer(rich_markup_mode=None, add_completion=False, cls=benching.SpeedUnlessNamed)
    group.callback(invoke_without_command=True, context_settings=ANYTHING)(benching.bench)
    group.command("recall")(expanded(benching.recall))
    group.command("speed", context_settings=ANYTHING)(benching.speed)
    return group


def build() -> typer.Typer:
    app = _group(_everywhere, COMMANDS, default=False)
    app.add_typer(_group(_blocks, BLOCKS, default=True), name="blocks")
    app.add_typer(_group(_keys, KEYS, default=True), name="key")
    app.add_typer(_group(_snapshot, SNAPSHOT, default=True), name="snapshot")
    app.add_typer(_group(_model, MODEL, default=True), name="model")
    app.add_typer(_bench(), name="bench")
    return app


@runtime_checkable
class WrongUse(Protocol):
    """What the parser of the command line raises."""

    exit_code: int

    def format_message(self) -> str: ...

    def show(self) -> None: ...


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code. Nothing is raised."""
    as_json = "--json" in arguments
    tell_as_notes(as_json=as_json, quiet=not {"--quiet", "-q"}.isdisjoint(arguments))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal that cannot show a letter is no reason to fail
    try:
        with quietly_if_nobody_reads(), ended_by_sigterm():
            code = build()(args=list(arguments), prog_name="commonplace", standalone_mode=False)
    except typer.Exit as done:
        code = done.exit_code
    except (KeyboardInterrupt, typer.Abort):
        code = Exit.INTERRUPTED
    except Exception as error:  # noqa: BLE001  # the outer edge: whatever it is becomes a message and a code
        return _failed(error, as_json=as_json)
    if code == Exit.INTERRUPTED:
        _complain("Interrupted", "interrupted", as_json=as_json)
    return int(code or Exit.OK)


def _failed(error: Exception, *, as_json: bool) -> int:
    if isinstance(error, WrongUse):
        if as_json:
            _complain("WrongUse", error.format_message(), as_json=True)
        else:
            error.show()
        return error.exit_code
    code = code_of(error)
    if code is Exit.BUG and not as_json:
        traceback.print_exception(error)
    _complain(type(error).__name__, str(error), as_json=as_json)
    return code


def _complain(kind: str, message: str, *, as_json: bool) -> None:
    if as_json:
        write_json({"error": kind, "message": message}, to_stderr=True)
    else:
        typer.echo(f"commonplace: {message or kind}", err=True)
