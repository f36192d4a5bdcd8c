"""What is known of each row of a partition without its text: one array a column, one cell a row."""

from dataclasses import dataclass, field, fields

import numpy as np

from commonplace.recall.growing import Growing


def _ints() -> Growing[np.int64]:
    return Growing(np.int64)


def _codes() -> Growing[np.int8]:
    return Growing(np.int8)


def _floats() -> Growing[np.float32]:
    return Growing(np.float32)


@dataclass(slots=True)
class Columns:
    """Moments are microseconds since 1970; an open end is FOREVER. Codes of -1 mean: none."""

    number: Growing[np.int64] = field(default_factory=_ints)
    first: Growing[np.int64] = field(default_factory=_ints)
    """The number of the first row of the same message."""
    version: Growing[np.int64] = field(default_factory=_ints)
    kind: Growing[np.int8] = field(default_factory=_codes)
    role: Growing[np.int8] = field(default_factory=_codes)
    at: Growing[np.int64] = field(default_factory=_ints)
    session: Growing[np.int64] = field(default_factory=_ints)
    speaker: Growing[np.int64] = field(default_factory=_ints)
    agent: Growing[np.int64] = field(default_factory=_ints)
    valid_from: Growing[np.int64] = field(default_factory=_ints)
    valid_to: Growing[np.int64] = field(default_factory=_ints)
    recorded_at: Growing[np.int64] = field(default_factory=_ints)
    retracted_at: Growing[np.int64] = field(default_factory=_ints)
    expires_at: Growing[np.int64] = field(default_factory=_ints)
    importance: Growing[np.float32] = field(default_factory=_floats)
    confidence: Growing[np.float32] = field(default_factory=_floats)
    words: Growing[np.int64] = field(default_factory=_ints)
    whole: Growing[np.int64] = field(default_factory=_ints)
    """Words in the whole message."""
    has: Growing[np.uint16] = field(default_factory=lambda: Growing(np.uint16))
    first_person: Growing[np.float32] = field(default_factory=_floats)
    second_person: Growing[np.float32] = field(default_factory=_floats)
    live: Growing[np.bool_] = field(default_factory=lambda: Growing(np.bool_))

    @property
    def nbytes(self) -> int:
        held: int = sum(getattr(self, column.name).nbytes for column in fields(self))
        return held
