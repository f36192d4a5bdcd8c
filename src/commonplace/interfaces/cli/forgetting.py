"""The command that forgets. It shows what would go and asks, unless --yes says so already."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from commonplace.domain.errors import InvalidInput
from commonplace.domain.progress import Progress, unseen
from commonplace.domain.receipts import Receipt
from commonplace.interfaces.cli.exits import Exit
from commonplace.interfaces.cli.opening import open_memory
from commonplace.interfaces.cli.options import OfSession
from commonplace.interfaces.cli.output import Output
from commonplace.interfaces.cli.times import local_now, parse_when, shown

if TYPE_CHECKING:
    from commonplace.interfaces.cli.screen import Screen


def forget(
    call: OfSession,
    message: Annotated[str | None, typer.Option(metavar="ID", help="One message.")] = None,
    fact: Annotated[str | None, typer.Option(metavar="ID", help="One fact.")] = None,
    before: Annotated[str | None, typer.Option(metavar="WHEN", help="What was said before that.")] = None,
    anonymous: Annotated[bool, typer.Option("--anonymous", help="All of the anonymous user.")] = False,
    whole_tenant: Annotated[
        str | None, typer.Option(metavar="NAME", help="All users of the tenant: name it once more.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would go.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> int:
    """Remove a user, session, message, fact, time or tenant."""
    output, moment = Output(call), parse_when(before, name="--before", now=local_now())
    with open_memory(call) as memory:

        def run(*, dry: bool, progress: Progress = unseen) -> Receipt:
            return memory.forget(
                user=call.user,
                session=call.session,
                before=moment,
                message=message,
                fact=fact,
                anonymous=anonymous,
                whole_tenant=whole_tenant,
                dry_run=dry,
                progress=progress,
            )

        if not yes or dry_run:
            planned = run(dry=True)
            if dry_run:
                output.answer(planned, lambda screen: _tell(screen, planned))
                return Exit.OK
            if not _agreed(planned, whole_tenant, asking=not call.json and sys.stdin.isatty()):
                output.note("Nothing was forgotten.")
                return Exit.NO
        with output.progress() as report:
            receipt = run(dry=False, progress=report)
    output.answer(receipt, lambda screen: _tell(screen, receipt))
    return Exit.OK


def _agreed(planned: Receipt, tenant: str | None, *, asking: bool) -> bool:
    if not asking:
        raise InvalidInput("forget cannot be undone: expected --yes, or a terminal to ask at")
    if tenant is not None:
        asked = f"Forget {listed(planned)} for good? Type the name of the tenant"
        return bool(typer.prompt(asked, default="", show_default=False, err=True) == tenant)
    return typer.confirm(f"Forget {listed(planned)} for good?", err=True)


def listed(receipt: Receipt) -> str:
    counts = receipt.counts["ledger"]
    named = ("users", "messages", "facts", "sessions", "blocks", "jobs")
    return ", ".join(f"{counts[name]:,} {name}" for name in named if counts.get(name)) or "nothing"


def _tell(screen: "Screen", receipt: Receipt) -> None:
    if receipt.at is None:
        screen.say(f"Would forget {listed(receipt)}.")
    else:
        screen.say(f"Forgot {listed(receipt)}.")
        rows = [
            ["receipt", receipt.id],
            ["digest", receipt.digest],
            ["at", shown(receipt.at)],
            ["not found in", ", ".join(receipt.verified)],
        ]
        screen.table(["what", "value"], rows, fixed=["what"])
    for note in receipt.notes:
        screen.say(f"Note: {note}.")
