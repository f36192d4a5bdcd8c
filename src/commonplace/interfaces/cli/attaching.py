"""The command that gets a file back."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from commonplace.domain.values import Attachment
from commonplace.interfaces.cli.opening import open_memory
from commonplace.interfaces.cli.options import OfUser
from commonplace.interfaces.cli.output import Output

if TYPE_CHECKING:
    from commonplace.interfaces.cli.screen import Screen


def attachment(
    call: OfUser,
    id: Annotated[str, typer.Argument(metavar="ID", help="The id of a file, as recall shows it.")],
    to: Annotated[Path | None, typer.Option(metavar="FILE", help="Write it there.")] = None,
) -> None:
    """Get a file that a message carries."""
    output = Output(call)
    with open_memory(call) as memory:
        found = memory.attachment(id, user=call.user) if to is None else memory.save_attachment(id, to, user=call.user)
    output.answer(found, lambda screen: _tell(screen, found, to))


def _tell(screen: "Screen", found: Attachment, to: Path | None) -> None:
    written = "" if to is None else f" Written to {to}."
    screen.say(f"{found.name or found.id}: {found.type}, {found.size:,} bytes.{written}")
