"""What to say when the framework of an integration is not installed."""

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def needing(extra: str) -> Iterator[None]:
    """Import a framework inside of this: its absence is told in one sentence, with the command."""
    try:
        yield
    except ModuleNotFoundError as error:
        message = f"this integration needs more packages: pip install 'commonplace[{extra}]'"
        raise ModuleNotFoundError(message, name=error.name) from error
