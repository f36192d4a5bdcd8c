"""`commonplace model`: where the embedding model comes from, and how to get it."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from commonplace.interfaces.cli.exits import Exit
from commonplace.interfaces.cli.opening import settings_of
from commonplace.interfaces.cli.options import Everywhere
from commonplace.interfaces.cli.output import Output

if TYPE_CHECKING:
    from commonplace.interfaces.cli.screen import Screen


class Step(Protocol):
    @property
    def what(self) -> str: ...

    @property
    def done(self) -> int: ...

    @property
    def total(self) -> int: ...


class File(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def size(self) -> int: ...

    @property
    def sha256(self) -> str: ...


class Status(Protocol):
    """What wiring says of a model, whichever adapter it is of."""

    @property
    def identity(self) -> str: ...

    @property
    def path(self) -> Path: ...

    @property
    def ready(self) -> bool: ...

    @property
    def reason(self) -> str | None: ...

    @property
    def source(self) -> str | None: ...

    @property
    def files(self) -> Sequence[File]: ...

    @property
    def would_try(self) -> Sequence[str]: ...


def show(call: Everywhere) -> int:
    """Show which embedding model is used and where it comes from."""
    from commonplace import wiring  # loads numpy and pydantic, which `--help` does without

    status = wiring.describe_model(settings_of(call))
    Output(call).answer(status, lambda screen: _tell(screen, status))
    return Exit.OK if status.ready else Exit.NO


def fetch(call: Everywhere) -> int:
    """Get the embedding model, check every byte, and keep it.

    Nothing happens if it is there already.
    """
    from commonplace import wiring

    with Output(call).progress() as report:

        def tell(step: Step) -> None:
            report(step.what, step.done, step.total)

        status = wiring.fetch_model(settings_of(call), tell)
    Output(call).answer(status, lambda screen: screen.say(f"Ready: {status.identity} in {status.path}"))
    return Exit.OK


def _tell(screen: "Screen", status: Status) -> None:
    rows = [["model", status.identity], ["folder", str(status.path)]]
    if status.ready:
        rows += [["came from", status.source or ""]]
        rows += [["file", f"{file.name}, {file.size:,} bytes, sha256 {file.sha256}"] for file in status.files]
    else:
        rows += [["not ready", status.reason or ""]]
        rows += [["would try", place] for place in status.would_try]
    screen.table(["what", "value"], rows, fixed=["what"])
    if not status.ready:
        screen.say("Get it with: commonplace model fetch", style="yellow")
