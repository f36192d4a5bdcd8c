"""Packages that only some installations have: what to say when one is missing."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def needing(extra: str, what: str, error: Callable[[str], Exception]) -> Iterator[None]:
    """Import what rests on an extra inside of this: its absence is told in one sentence, with the command.

    A module of our own that cannot be imported is no missing package, and comes as it is.
    """
    try:
        yield
    except ImportError as missing:
        if (missing.name or "").partition(".")[0] == "commonplace":
            raise
        raise error(f"{what} needs more packages: pip install 'commonplace[{extra}]'") from missing
