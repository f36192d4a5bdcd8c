"""`commonplace export`: everything held on a user, for a machine or for the person concerned."""

import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from commonplace.interfaces.cli.opening import open_memory
from commonplace.interfaces.cli.options import OfUser
from commonplace.interfaces.cli.output import Output, write_json

if TYPE_CHECKING:
    from commonplace.care.export import Export

Form = Literal["jsonl", "markdown", "html"]


def export(
    call: OfUser,
    out: Annotated[Path | None, typer.Option("--out", "-o", metavar="FILE", help="Where to. Without it: here.")] = None,
    form: Annotated[Form, typer.Option("--format", help="For a machine, or for people.")] = "jsonl",
    with_vectors: Annotated[bool, typer.Option("--with-vectors", help="With what a model made of the texts.")] = False,
) -> None:
    """Export everything held on a user."""
    output = Output(call)
    straight = out if form == "jsonl" else None
    with open_memory(call) as memory, output.progress() as report:
        made = memory.export(user=call.user, to=straight, vectors=with_vectors, progress=report)
        if out is not None and straight is None:
            _write(_written(made, form), out)
    if out is None:
        _print(made, form, as_document=call.json)
        return
    held = ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in made.counts.items()) or "nothing"
    answer = {"path": str(out), "format": form, "counts": made.counts}
    output.answer(answer, lambda screen: screen.say(f"Wrote {held} to {out}."))


def _written(made: "Export", form: Form) -> Iterable[str]:
    from commonplace.care import readable  # `--help` does without it

    return readable.markdown(made) if form == "markdown" else readable.page(made)


def _write(pieces: Iterable[str], out: Path) -> None:
    from commonplace.care.export import private_file

    with private_file(out) as file:
        for piece in pieces:
            file.write(piece.encode("utf-8"))


def _print(made: "Export", form: Form, *, as_document: bool) -> None:
    if as_document and form == "jsonl":
        write_json({"user": made.user, "counts": made.counts, "records": [json.loads(line) for line in made]})
    elif as_document:
        write_json({"user": made.user, "counts": made.counts, "text": "".join(_written(made, form))})
    else:
        for piece in _lines(made) if form == "jsonl" else _written(made, form):
            sys.stdout.write(piece)


def _lines(made: "Export") -> Iterator[str]:
    return (f"{line}\n" for line in made)
