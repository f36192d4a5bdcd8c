"""Command that moves a memory from one engine to another: migrate."""

import asyncio
from typing import TYPE_CHECKING, Annotated

import typer

from commonplace.domain.moves import Moved
from commonplace.interfaces.cli.options import Everywhere
from commonplace.interfaces.cli.output import Output

if TYPE_CHECKING:
    from commonplace.interfaces.cli.screen import Screen

LOST = "Move messages whose attachment has no file, too. Without it, the move is refused."
IN_USE = "Move even while another process has the source open. What it writes from now on is not moved."


def migrate(
    call: Everywhere,
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="A folder, sqlite:///… or postgresql://…")],
    target: Annotated[str, typer.Argument(metavar="TARGET", help="The same, and empty.")],
    in_use: Annotated[bool, typer.Option("--in-use", help=IN_USE)] = False,
    without_lost: Annotated[bool, typer.Option("--without-lost-files", help=LOST)] = False,
) -> None:
    """Move a memory, with every tenant, to another database.

    SOURCE stays as it is. Broken off, it goes on when it is run again. Both sides are compared by counts and hashes.
    """
    from commonplace.wiring import Location, moved

    output, given, places = Output(call), call.of_every_tenant(), (Location.parse(source), Location.parse(target))
    with output.progress() as report:
        done = asyncio.run(moved(*places, given, in_use=in_use, without_lost=without_lost, progress=report))
    output.answer(done, lambda screen: _tell(screen, done))


def _tell(screen: "Screen", done: Moved) -> None:
    counted = ", ".join(f"{count:,} {what.replace('_', ' ')}" for what, count in done.counts.items())
    begun = "Went on with the move of" if done.resumed else "Moved"
    screen.say(f"{begun} {done.source} to {done.target}: {counted or 'nothing'}, of {done.users:,} users.")
    if done.lost_files:
        screen.say(f"{done.lost_files:,} attachments had no file at the source.", style="yellow")
    screen.say("Counts and hashes agree. The source is as it was.", style="green")
