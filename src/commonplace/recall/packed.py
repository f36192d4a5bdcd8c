"""The packed form of an index row: its terms by section, and its features. A ledger keeps it and does not look inside.

A header of 16 bytes, the 64-bit hashes, one byte of count for each, filled up to a multiple of 8: thousands of
them are read at once without a loop.
"""

import struct
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from commonplace.domain.errors import LedgerCorrupt
from commonplace.recall.features import Features, Has, features_of, words_in
from commonplace.recall.terms import MONTHS, analyse, date_terms

FORMAT = 1
NO_TERMS: Mapping[int, int] = {}

_HEADER = np.dtype(
    [
        ("format", "u1"),
        ("first_person", "u1"),
        ("has", "<u2"),
        ("words", "<u2"),
        ("own", "<u2"),
        ("whole", "<u4"),
        ("speaker", "u1"),
        ("date", "u1"),
        ("caption", "u1"),
        ("second_person", "u1"),
    ]
)
_BYTE, _SHORT = 255, 65_535


class Analysed(NamedTuple):
    """One index row: a text, or a passage of one."""

    own: Mapping[int, int]
    speaker: Mapping[int, int]
    date: Mapping[int, int]
    caption: Mapping[int, int]
    features: Features
    whole: int
    """Words in the whole text of which this is a passage."""


class Unpacked(NamedTuple):
    """Many rows at once. The terms of all rows follow each other; `row` says whose each is."""

    hashes: NDArray[np.uint64]
    counts: NDArray[np.uint8]
    row: NDArray[np.int64]
    section: NDArray[np.uint8]
    words: NDArray[np.int64]
    whole: NDArray[np.int64]
    has: NDArray[np.uint16]
    first_person: NDArray[np.float32]
    second_person: NDArray[np.float32]


OWN, SPEAKER, DATE, CAPTION = range(4)


def analyse_row(
    text: str,
    *,
    whole: int | None = None,
    speaker: str | None = None,
    at: datetime | None = None,
    caption: str | None = None,
    language: str = "en",
) -> Analysed:
    """Analyse a text or passage; `whole` is how many words the text has that it was cut from."""
    folded = text.casefold()
    words = words_in(folded)
    found = features_of(text, folded, words)
    day = at.astimezone(UTC) if at else None
    return Analysed(
        own=analyse(text, language=language, words=words),
        speaker=analyse(speaker, language=language) if speaker else NO_TERMS,
        date=date_terms(day.year, day.month, day.day, language) if day else NO_TERMS,
        caption=analyse(caption, language=language) if caption else NO_TERMS,
        features=found,
        whole=found.words if whole is None else whole,
    )


def index_text(text: str, *, speaker: str | None = None, at: datetime | None = None, caption: str | None = None) -> str:
    """Return what the embedder should read: `[8 May 2023] Speaker: text [shares caption]`."""
    day = at.astimezone(UTC) if at else None
    parts = [
        f"[{day.day} {MONTHS[day.month - 1].capitalize()} {day.year}]" if day else "",
        f"{speaker}: {text}" if speaker else text,
        f"[shares {caption}]" if caption else "",
    ]
    return " ".join(part for part in parts if part)


def pack(row: Analysed) -> bytes:
    own = _first(row.own, _SHORT)
    speaker, date, caption = (_first(terms, _BYTE) for terms in (row.speaker, row.date, row.caption))
    counts = [*own.values(), *speaker.values(), *date.values(), *caption.values()]
    count = len(counts)
    if max(counts, default=0) > _BYTE:
        counts = [min(times, _BYTE) for times in counts]
    return struct.pack(
        f"<BBHHHIBBBB{count}Q{count}B{-count % 8}x",
        FORMAT,
        round(_BYTE * row.features.first_person),
        row.features.flags,
        min(row.features.words, _SHORT),
        len(own),
        min(row.whole, 2**32 - 1),
        len(speaker),
        len(date),
        len(caption),
        round(_BYTE * row.features.second_person),
        *own,
        *speaker,
        *date,
        *caption,
        *counts,
    )


def _first(terms: Mapping[int, int], most: int) -> Mapping[int, int]:
    return terms if len(terms) <= most else dict(islice(terms.items(), most))


def hashes(blob: bytes) -> Sequence[int]:
    """Return every term of one row, of all sections, for a full-text table. Raises LedgerCorrupt as `unpack` does.

    `unpack` is made for thousands of rows: for a single one it takes 60 times as long.
    """
    if len(blob) < _HEADER.itemsize:
        raise LedgerCorrupt("an index row has a damaged length: reindex")
    form, *lengths = struct.unpack_from("<B5xH4xBBB", blob)
    count = sum(lengths)
    if form != FORMAT or len(blob) != 8 * (2 + count + (count + 7) // 8):
        raise LedgerCorrupt(f"an index row is not of format {FORMAT}: reindex")
    return struct.unpack_from(f"<{count}Q", blob, _HEADER.itemsize)


def unpack(blobs: Sequence[bytes]) -> Unpacked:
    """Read many rows at once. Raises LedgerCorrupt for anything that `pack` did not make."""
    sizes = np.fromiter(map(len, blobs), np.int64, len(blobs))
    if len(blobs) and (sizes.min() < _HEADER.itemsize or (sizes % 8).any()):
        raise LedgerCorrupt("an index row has a damaged length: reindex")
    cells = np.frombuffer(b"".join(blobs), np.uint64)
    starts = (np.cumsum(sizes) - sizes) // 8
    header = cells[starts[:, None] + np.arange(2)].view(_HEADER).reshape(-1)
    lengths = np.stack([header[name].astype(np.int64) for name in ("own", "speaker", "date", "caption")], axis=1)
    terms = lengths.sum(axis=1)
    if (header["format"] != FORMAT).any() or (sizes // 8 != 2 + terms + (terms + 7) // 8).any():
        raise LedgerCorrupt(f"an index row is not of format {FORMAT}: reindex")
    row = np.repeat(np.arange(len(blobs)), terms)
    place = np.arange(len(row)) - np.repeat(np.cumsum(terms) - terms, terms)
    counts_start = (starts + 2 + terms) * 8
    return Unpacked(
        hashes=cells[starts[row] + 2 + place],
        counts=cells.view(np.uint8)[counts_start[row] + place],
        row=row,
        section=np.repeat(np.tile(np.arange(4, dtype=np.uint8), len(blobs)), lengths.reshape(-1)),
        words=header["words"].astype(np.int64),
        whole=header["whole"].astype(np.int64),
        has=header["has"].astype(np.uint16),
        first_person=(header["first_person"] / np.float32(_BYTE)).astype(np.float32),
        second_person=(header["second_person"] / np.float32(_BYTE)).astype(np.float32),
    )


def asks(has: NDArray[np.uint16], flag: Has) -> NDArray[np.bool_]:
    found: NDArray[np.bool_] = (has & np.uint16(flag)) != 0
    return found
