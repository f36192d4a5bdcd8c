"""Python values as columns, and back, without loss.

SQLite's TEXT refuses lone surrogates and cuts at NUL in places, so a text that has one is kept as a BLOB. A text has
only one such form, so equal texts are equal columns.
"""

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import TypeVar

import numpy as np

from commonplace.domain.times import from_micros, to_micros
from commonplace.domain.values import Json, Metadata
from commonplace.ports.ledger import Vector

Connection = sqlite3.Connection
Text = str | bytes
T = TypeVar("T")

BATCH = 100
"""Keys that one statement asks for."""


def text_column(text: str) -> Text:
    if "\0" not in text:
        if text.isascii():
            return text
        try:
            text.encode()
        except UnicodeEncodeError:
            pass
        else:
            return text
    return text.encode(errors="surrogatepass")


def optional_text_column(text: str | None) -> Text | None:
    return None if text is None else text_column(text)


def text_of(column: Text) -> str:
    return column if isinstance(column, str) else column.decode(errors="surrogatepass")


def optional_text_of(column: Text | None) -> str | None:
    return None if column is None else text_of(column)


def json_column(value: Json | Mapping[str, Json]) -> str:
    """Return ASCII: JSON escapes what TEXT cannot keep."""
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


def vector_column(vector: Vector) -> bytes:
    return np.asarray(vector, dtype=np.float32).tobytes()


def batches(keys: Sequence[T]) -> Iterator[Sequence[T]]:
    """Yield the keys, as many at a time as one statement asks for: it is quicker than a statement for each."""
    for start in range(0, len(keys), BATCH):
        yield keys[start : start + BATCH]


def marks(keys: Sequence[object]) -> str:
    """Return a question mark for each key."""
    return ", ".join("?" * len(keys))
