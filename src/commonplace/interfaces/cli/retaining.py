"""Commands about how long things stay: purge, hold, release, holds."""

from typing import TYPE_CHECKING, Annotated

import typer

from commonplace.domain.results import Purged
from commonplace.domain.retention import Hold
from commonplace.interfaces.cli.forgetting import listed
from commonplace.interfaces.cli.opening import open_memory
from commonplace.interfaces.cli.options import Everywhere, OfUser
from commonplace.interfaces.cli.output import Output
from commonplace.interfaces.cli.times import shown

if TYPE_CHECKING:
    from commonplace.interfaces.cli.screen import Screen


def purge(
    call: Everywhere,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would go.")] = False,
) -> None:
    """Forget what has expired or is kept no longer."""
    output = Output(call)
    with open_memory(call) as memory, output.progress() as report:
        purged = memory.purge(dry_run=dry_run, progress=report)
    output.answer(purged, lambda screen: _tell_purged(screen, purged))


def _tell_purged(screen: "Screen", purged: Purged) -> None:
    rows = [[receipt.user or "(anonymous)", listed(receipt), receipt.id] for receipt in purged.receipts]
    if rows:
        screen.table(["user", "gone" if purged.applied else "would go", "receipt"], rows, fixed=["receipt"])
    else:
        screen.say("Nothing is due.")
    for user in purged.held:
        screen.say(f"{user or '(anonymous)'} is on hold: something is due, and stays.", style="yellow")


def hold(call: OfUser, reason: Annotated[str, typer.Option(help="Why, for whoever asks later.")] = "") -> None:
    """Let nobody remove anything of a user."""
    with open_memory(call) as memory:
        held = memory.hold(user=call.user, reason=reason)
    Output(call).answer(held, lambda screen: _tell_holds(screen, [held]))


def release(call: OfUser) -> None:
    """End a hold."""
    with open_memory(call) as memory:
        memory.release(user=call.user)
    Output(call).answer({"released": call.user}, lambda screen: screen.say(f"Released {call.user or '(anonymous)'}."))


def holds(call: Everywhere) -> None:
    """List who is on hold."""
    with open_memory(call) as memory:
        found = memory.holds()
    Output(call).answer(found, lambda screen: _tell_holds(screen, found))


def _tell_holds(screen: "Screen", found: list[Hold]) -> None:
    if not found:
        screen.say("Nobody is on hold.")
        return
    rows = [[one.user or "(anonymous)", shown(one.since) or "", one.reason] for one in found]
    screen.table(["user", "since", "reason"], rows, fixed=["since"])
