"""`commonplace model`: where the embedding model comes from, and how to get it."""

from typing import Protocol

from commonplace.interfaces.cli.opening import settings_of
from commonplace.interfaces.cli.options import Everywhere
from commonplace.interfaces.cli.output import Output, as_json


class Step(Protocol):
    @property
    def what(self) -> str: ...

    @property
    def done(self) -> int: ...

    @property
    def total(self) -> int: ...


def show(call: Everywhere) -> None:
    """Show which embedding model is used and where it comes from."""
    from commonplace import wiring  # loads numpy and pydantic, which `--help` does without

    described = as_json(wiring.describe_model(settings_of(call)))
    assert isinstance(described, dict)
    rows = [[name.replace("_", " "), "" if value is None else str(value)] for name, value in described.items()]
    Output(call).answer(described, lambda screen: screen.table(["model", ""], rows, fixed=["model"]))


def fetch(call: Everywhere) -> None:
    """Get the embedding model, check every byte, and keep it. Nothing happens if it is there."""
    from commonplace import wiring

    output = Output(call)
    with output.progress() as report:

        def tell(step: Step) -> None:
            report(step.what, step.done, step.total)

        wiring.fetch_model(settings_of(call), tell)
    show(call)
