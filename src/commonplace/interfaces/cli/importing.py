"""`commonplace import`: messages from a file of JSON lines, with their dates and ids.

A line without an id gets one made from what it says, so that the same file imported twice is imported once.
"""

import hashlib
import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, NamedTuple

import typer

from commonplace.domain.errors import InvalidInput
from commonplace.domain.inputs import MESSAGE_KEYS, Told, parse_messages, parse_optional_name
from commonplace.domain.progress import Progress
from commonplace.domain.values import Json
from commonplace.interfaces.cli.exits import Exit
from commonplace.interfaces.cli.opening import open_memory
from commonplace.interfaces.cli.options import OfSession
from commonplace.interfaces.cli.output import Output
from commonplace.interfaces.cli.times import local_now

if TYPE_CHECKING:
    from commonplace import Memory
    from commonplace.interfaces.cli.screen import Screen

BATCH = 256
SHOWN = 20
"""Bad lines that are reported one by one; the rest is counted."""
LINE_KEYS = MESSAGE_KEYS | {"user", "session", "agent", "text"}


class Owner(NamedTuple):
    """Whose message, and in which conversation: what `add` takes beside the messages."""

    user: str | None
    session: str | None
    agent: str | None


class Line(NamedTuple):
    owner: Owner
    message: dict[str, Json]


@dataclass(frozen=True, slots=True)
class BadLine:
    line: int
    error: str


@dataclass(slots=True)
class Imported:
    """What came of it so far."""

    messages: int = 0
    changes: int = 0
    pending: int = 0
    bad: list[BadLine] = field(default_factory=list)
    notes: set[str] = field(default_factory=set)


def import_messages(
    call: OfSession,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A file of JSON lines, one message each; - is stdin.")],
    learn: Annotated[bool, typer.Option("--learn/--no-learn", help="Learn facts from them.")] = True,
) -> int:
    """Import messages with their dates and ids. Importing them again changes nothing."""
    output, imported = Output(call), Imported()
    elsewhere = Owner(call.user, call.session, None)
    with _bytes(file) as stream, open_memory(call) as memory, output.progress() as report:
        total = None if stream is sys.stdin.buffer else file.stat().st_size
        lines = _parsed(_counted(stream, report, total=total), elsewhere, imported)
        for batch in _batches(lines):
            _add(memory, batch, imported, learn=learn)
    output.answer(
        {"messages": imported.messages, "changes": imported.changes, "pending": imported.pending, "bad": imported.bad},
        lambda screen: _tell(screen, imported),
    )
    for note in sorted(imported.notes):
        output.note(note)
    return Exit.NO if imported.bad else Exit.OK


@contextmanager
def _bytes(file: Path) -> Iterator[IO[bytes]]:
    if str(file) == "-":
        yield sys.stdin.buffer
        return
    try:
        stream = file.open("rb")
    except OSError as error:
        raise InvalidInput(f"{file}: cannot be read: {error.strerror}") from error
    with stream:
        yield stream


def _counted(stream: IO[bytes], report: Progress, *, total: int | None) -> Iterator[tuple[int, bytes]]:
    """Yield each line that is not blank with its number, from 1."""
    done = 0
    for number, line in enumerate(stream, start=1):
        done += len(line)
        report("Importing", done, total)
        if line.strip():
            yield number, line


def _parsed(lines: Iterable[tuple[int, bytes]], elsewhere: Owner, imported: Imported) -> Iterator[Line]:
    """Yield the good lines; the bad ones are written down."""
    seen: Counter[bytes] = Counter()
    for number, text in lines:
        try:
            yield parse_line(text, elsewhere, seen)
        except InvalidInput as error:
            imported.bad.append(BadLine(number, str(error)))


def parse_line(text: bytes, elsewhere: Owner, seen: Counter[bytes]) -> Line:
    """Read one line. `seen` counts lines without an id, so that "ok" said twice stays two messages."""
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"not JSON: {error}") from None
    if not isinstance(fields, dict):
        raise InvalidInput("expected a JSON object")
    if unknown := sorted(fields.keys() - LINE_KEYS):
        raise InvalidInput(f"unknown keys {unknown}; expected some of {sorted(LINE_KEYS)}")
    owner = Owner(
        *(parse_optional_name(fields.pop(name, default), name=name) for name, default in elsewhere._asdict().items())
    )
    if "text" in fields:
        fields.setdefault("content", fields.pop("text"))
    if fields.get("id") is None:
        fields["id"] = _id_of(fields, owner, seen)
    now = local_now()
    told = Told(session=None, agent=None, at=now, metadata={}, expires_at=None, now=now)
    parse_messages(fields, told, new_id=str)  # refuses here what `add` would refuse, with the line at hand
    return Line(owner, fields)


def _id_of(fields: dict[str, Json], owner: Owner, seen: Counter[bytes]) -> str:
    said = json.dumps([owner, fields], sort_keys=True).encode()
    digest = hashlib.blake2b(said, digest_size=12)
    seen[digest.digest()] += 1
    return f"import-{digest.hexdigest()}-{seen[digest.digest()]}"


def _batches(lines: Iterable[Line]) -> Iterator[list[Line]]:
    """Yield runs of lines with one owner, none too long and no id twice in one, for one transaction each."""
    for _, run in groupby(lines, key=lambda line: line.owner):
        batch: dict[Json, Line] = {}
        for line in run:
            if len(batch) == BATCH or line.message["id"] in batch:
                yield list(batch.values())
                batch = {}
            batch[line.message["id"]] = line
        yield list(batch.values())


def _add(memory: "Memory", batch: list[Line], imported: Imported, *, learn: bool) -> None:
    added = memory.add([line.message for line in batch], **batch[0].owner._asdict(), learn=learn)
    imported.messages += len(added.messages)
    imported.changes += len(added.changes)
    imported.pending += added.pending
    imported.notes |= set(added.notes)


def _tell(screen: "Screen", imported: Imported) -> None:
    for bad in imported.bad[:SHOWN]:
        screen.say(f"line {bad.line}: {bad.error}", style="red")
    if len(imported.bad) > SHOWN:
        screen.say(f"… and {len(imported.bad) - SHOWN:,} more bad lines", style="red")
    left_out = f", left out {len(imported.bad):,} bad lines" if imported.bad else ""
    screen.say(f"Imported {imported.messages:,} messages, made {imported.changes:,} changes to facts{left_out}.")
