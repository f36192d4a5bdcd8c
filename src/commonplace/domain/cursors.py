"""Cursors: where the next page starts, as a string that callers hand back and do not look into."""

import base64
import binascii
import json
from collections.abc import Sequence

from commonplace.domain.errors import InvalidInput


def encode_cursor(*place: int) -> str:
    return base64.urlsafe_b64encode(json.dumps(place).encode()).decode().rstrip("=")


def decode_cursor(cursor: object, *, parts: int) -> Sequence[int] | None:
    """Return the place, None for no cursor. Raises InvalidInput for what `encode_cursor` did not make."""
    if cursor is None:
        return None
    if isinstance(cursor, str) and cursor.isascii():
        try:
            place = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        except (binascii.Error, ValueError):
            place = None
        if isinstance(place, list) and len(place) == parts and all(type(n) is int and abs(n) < 2**63 for n in place):
            return place
    raise InvalidInput(f"cursor={cursor!r}: expected the next_cursor of a page")
