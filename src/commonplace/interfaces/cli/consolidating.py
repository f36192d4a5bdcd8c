"""The command that tidies up: consolidate."""

from typing import Annotated

import typer

from commonplace.domain.results import Consolidated
from commonplace.interfaces.cli.opening import open_memory
from commonplace.interfaces.cli.options import OfUser
from commonplace.interfaces.cli.output import Output


def consolidate(
    call: OfUser,
    everyone: Annotated[bool, typer.Option("--all", help="Of every user.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be done.")] = False,
) -> None:
    """Expire, merge, weigh anew and summarise what is over."""
    output = Output(call)
    with open_memory(call) as memory, output.progress() as report:
        done = memory.consolidate(user=call.user, everyone=everyone, dry_run=dry_run, progress=report)
    output.answer(done, lambda screen: screen.say(_told(done)))


def _told(done: Consolidated) -> str:
    whose = f" Users: {done.users:,}." if done.users != 1 else ""
    return f"{str(done).capitalize()}.{whose}"
