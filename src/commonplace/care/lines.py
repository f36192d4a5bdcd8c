"""The records of an archive as JSON lines: the documented form of an export, and of a part of a snapshot.

Each line is an object whose `type` says what it is. Only ASCII is used: what is beyond it is escaped, so that no tool
breaks a line at a separator, and half a surrogate pair survives.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields

from commonplace.care.coding import decoded, encoded
from commonplace.domain.archive import (
    FORMAT,
    Archived,
    FilePiece,
    KeptErasure,
    KeptFact,
    KeptJob,
    KeptMessage,
    KeptSession,
    KeptSummary,
    OfTenant,
    OfUser,
    Opened,
    Spent,
)
from commonplace.domain.errors import Incompatible, InvalidInput
from commonplace.domain.keys import Key
from commonplace.domain.retention import Hold
from commonplace.domain.values import Block, BlockVersion, Fact, FactChange, Json, Message, Source, Summary


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """The last line of a file that is whole."""

    records: int
    """How many lines came before it."""


Line = Archived | Ended

TYPES: Mapping[str, type[Line]] = {
    "commonplace": Opened,
    "tenant": OfTenant,
    "user": OfUser,
    "message": KeptMessage,
    "fact": KeptFact,
    "summary": KeptSummary,
    "source": Source,
    "change": FactChange,
    "block": Block,
    "block_version": BlockVersion,
    "session": KeptSession,
    "erasure": KeptErasure,
    "job": KeptJob,
    "usage": Spent,
    "api_key": Key,
    "hold": Hold,
    "file": FilePiece,
    "end": Ended,
}
_NAMES = {kind: name for name, kind in TYPES.items()}
_INNER: Mapping[type[Line], tuple[str, type[Message | Fact | Summary]]] = {
    KeptMessage: ("message", Message),
    KeptFact: ("fact", Fact),
    KeptSummary: ("summary", Summary),
}
"""Records whose fields stand beside those of the value that they keep: a line is flat."""


def line_of(record: Line) -> str:
    """Return one line, without its end."""
    body = encoded(record)
    assert isinstance(body, dict)
    if type(record) in _INNER:
        inner = body.pop(_INNER[type(record)][0])
        assert isinstance(inner, dict)
        body = {**inner, **{name: value for name, value in body.items() if value not in (None, [])}}
    if isinstance(record, OfUser) and record.embedder is None:
        del body["embedder"]
    return json.dumps({"type": _NAMES[type(record)], **body}, allow_nan=False, separators=(",", ":"))


def record_of(line: str | bytes) -> Line:
    """Read one line. Raises InvalidInput for what is none, Incompatible for a form that is newer than this program."""
    body = object_of(line)
    name = body.pop("type", None)
    kind = TYPES.get(name) if isinstance(name, str) else None
    if kind is None:
        raise InvalidInput(f"type={name!r}: expected one of {', '.join(TYPES)}")
    if kind in _INNER:
        inner, of = _INNER[kind]
        known = {field.name for field in fields(of)}
        body = {inner: body, **{key: value for key, value in body.items() if key not in known}}
    record = decoded(kind, body, name=str(name))
    if isinstance(record, Opened) and record.format > FORMAT:
        raise Incompatible(f"this file has format {record.format}, and this version reads up to {FORMAT}: upgrade")
    return record


def object_of(line: str | bytes) -> dict[str, Json]:
    """Return the JSON object of a line. Raises InvalidInput."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"not JSON: {error}") from None
    if not isinstance(value, dict):
        raise InvalidInput("expected a JSON object")
    return value
