"""What is logged while a command runs: a note, in the form that the command's own notes have.

Python would write it to stderr as it is, where `--json` promises one object a line.
"""

import logging

import typer

from commonplace.interfaces.cli.output import write_json

CONNECTIONS = "psycopg.pool"
"""Tells of each connection that was lost. Whoever runs a command is told if the command fails because of it."""


class Notes(logging.Handler):
    def __init__(self, *, as_json: bool, quiet: bool) -> None:
        super().__init__(logging.WARNING)
        self._as_json, self._quiet = as_json, quiet
        self.addFilter(lambda record: record.name != CONNECTIONS)

    def emit(self, record: logging.LogRecord) -> None:
        if self._quiet:
            return
        text = record.getMessage()
        if self._as_json:
            write_json({"note": text}, to_stderr=True)
        else:
            typer.echo(text, err=True)


def tell_as_notes(*, as_json: bool, quiet: bool) -> None:
    """Tell what nobody else takes: a service writes a log of its own."""
    logging.lastResort = Notes(as_json=as_json, quiet=quiet)
