"""Python values as columns, and back, without loss.

PostgreSQL's text refuses NUL and lone surrogates, so they are spelled out behind a mark that no text uses (a Unicode
noncharacter; spelled out itself where one does). A text has only one such form, so equal texts are equal columns.
"""

import json
import re
import struct
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import numpy as np
from psycopg import AsyncConnection
from psycopg.abc import Buffer
from psycopg.adapt import Dumper
from psycopg.pq import Format

from commonplace.domain.times import from_micros, to_micros
from commonplace.domain.values import Json, Metadata
from commonplace.ports.ledger import Vector

Connection = AsyncConnection[tuple[Any, ...]]

MARK = "\ufdd0"
_REFUSED = re.compile(f"[\0\ud800-\udfff{MARK}]")
_SPELLED = re.compile(f"{MARK}([0-9a-f]{{4}})")


def text_column(text: str) -> str:
    if text.isascii() and "\0" not in text:
        return text
    return _REFUSED.sub(lambda found: f"{MARK}{ord(found[0]):04x}", text)


def optional_text_column(text: str | None) -> str | None:
    return None if text is None else text_column(text)


def text_of(column: str) -> str:
    return _SPELLED.sub(lambda found: chr(int(found[1], 16)), column) if MARK in column else column


def optional_text_of(column: str | None) -> str | None:
    return None if column is None else text_of(column)


def json_column(value: Json | Mapping[str, Json]) -> str:
    """Return ASCII: JSON escapes what text cannot keep."""
    return json.dumps(dict(value) if isinstance(value, Mapping) else value, allow_nan=False)


def metadata_column(metadata: Metadata) -> str | None:
    return json_column(metadata) if metadata else None


def metadata_of(column: str | None) -> Metadata:
    metadata: dict[str, Json] = {} if column is None else json.loads(column)
    return metadata


def optional_micros(moment: datetime | None) -> int | None:
    return None if moment is None else to_micros(moment)


def optional_moment(micros: int | None) -> datetime | None:
    return None if micros is None else from_micros(micros)


class VectorColumn(bytes):
    """A vector as pgvector sends and receives it: how many numbers, 16 bits of nothing, then big-endian floats."""


class VectorDumper(Dumper):
    """Of no type: the server takes it for what the column is, so nobody has to look up pgvector's own type."""

    format = Format.BINARY
    oid = 0

    def dump(self, obj: VectorColumn) -> Buffer:
        return obj


def vector_column(vector: Vector) -> VectorColumn:
    numbers = np.asarray(vector, dtype=">f4")
    return VectorColumn(struct.pack(">HH", numbers.size, 0) + numbers.tobytes())


def vector_of(column: bytes) -> bytes:
    """Return the floats of a vector as the machine has them, which is how the ledger's port hands them out."""
    return np.frombuffer(column, dtype=">f4", offset=4).astype(np.float32).tobytes()


def optional_vector_of(column: bytes | None) -> bytes | None:
    return None if column is None else vector_of(column)
