"""How far a long step has come, told to whoever wants to show it."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Step:
    what: str
    """A short phrase for people: "checking model.safetensors"."""
    done: int
    total: int


Progress = Callable[[Step], None]


def silent(_: Step) -> None:
    """Show nothing."""
