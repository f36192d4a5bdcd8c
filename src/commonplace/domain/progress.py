"""How long work says how far it has come."""

from collections.abc import Callable

Progress = Callable[[str, int, int | None], None]
"""What is being done, how much of it is done, and how much there is, if that is known."""


def unseen(what: str, done: int, total: int | None) -> None:
    """Nobody looks."""
