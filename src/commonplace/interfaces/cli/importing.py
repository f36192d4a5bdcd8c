"""`commonplace import`: an export, or what another program has kept, with its dates and ids."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from commonplace.interfaces.cli.exits import Exit
from commonplace.interfaces.cli.opening import open_memory
from commonplace.interfaces.cli.options import OfSession
from commonplace.interfaces.cli.output import Output

if TYPE_CHECKING:
    from commonplace.domain.imports import Imported
    from commonplace.interfaces.cli.screen import Screen

SHOWN = 20
"""Bad places that are reported one by one; the rest is counted."""


def import_file(
    call: OfSession,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What to import; - is stdin.")],
    form: Annotated[str, typer.Option("--format", metavar="FORMAT", help="Its form, if auto does not tell.")] = "auto",
    learn: Annotated[bool, typer.Option("--learn/--no-learn", help="Learn facts from messages.")] = True,
    bring_back: Annotated[bool, typer.Option("--bring-back", help="Also what was forgotten here.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only count.")] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Stop at the first bad line.")] = False,
) -> int:
    """Import an export, messages, or another program's data."""
    output, given = Output(call), sys.stdin.buffer if str(file) == "-" else file
    wishes: dict[str, Any] = {
        "user": call.user,
        "session": call.session,
        "format": form,
        "learn": learn,
        "dry_run": dry_run,
        "strict": strict,
    }
    with open_memory(call) as memory:
        with output.progress() as report:
            imported = memory.import_from(given, bring_back=bring_back, progress=report, **wishes)
        if imported.forgotten and not dry_run and isinstance(given, Path) and _agreed(imported, quiet=call.json):
            with output.progress() as report:
                imported = memory.import_from(given, bring_back=True, progress=report, **wishes)
    output.answer(_summed(imported), lambda screen: _tell(screen, imported))
    for note in imported.notes:
        output.note(note)
    return Exit.NO if imported.bad or (imported.forgotten and not dry_run) else Exit.OK


def _agreed(imported: "Imported", *, quiet: bool) -> bool:
    """Ask, where somebody is there to be asked."""
    if quiet or not sys.stdin.isatty():
        return False
    return typer.confirm(f"{_listed(imported.forgotten)} were forgotten here. Bring them back?", err=True)


def _summed(imported: "Imported") -> dict[str, object]:
    return {
        "format": imported.format,
        "messages": imported.added.get("messages", 0),
        "changes": imported.changes,
        "pending": imported.pending,
        "added": imported.added,
        "known": imported.known,
        "loose": imported.loose,
        "forgotten": imported.forgotten,
        "bad": imported.bad,
        "dry_run": imported.dry_run,
    }


def _listed(counts: Any) -> str:
    return ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in counts.items()) or "0 messages"


def _tell(screen: "Screen", imported: "Imported") -> None:
    for bad in imported.bad[:SHOWN]:
        screen.say(f"{bad.place}: {bad.error}", style="red")
    if len(imported.bad) > SHOWN:
        screen.say(f"… and {len(imported.bad) - SHOWN:,} more bad lines", style="red")
    verb = "Would import" if imported.dry_run else "Imported"
    changes = "" if imported.dry_run else f", made {imported.changes:,} changes to facts"
    left_out = f", left out {len(imported.bad):,} bad lines" if imported.bad else ""
    screen.say(f"{verb} {_listed(imported.added)}{changes}{left_out}.")
    if imported.known:
        screen.say(f"{_listed(imported.known)} were there already.")
    if imported.loose:
        screen.say(f"{_listed(imported.loose)} were left out: what they point to is not there.")
    if imported.forgotten:
        screen.say(f"{_listed(imported.forgotten)} were forgotten here and left out; --bring-back brings them back.")
