"""A reader that leaves early (`commonplace facts | head -1`) is no error."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from commonplace.interfaces.cli.exits import Exit


@contextmanager
def quietly_if_nobody_reads() -> Iterator[None]:
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        # Python flushes once more when it ends; that must find something that can be written to.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(Exit.PIPE_CLOSED) from None
