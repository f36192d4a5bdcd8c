"""ETag and If-Match: who changes something can say what they have read, and is refused if it is no longer that.

What was compared is what is changed, in one process or in many: the ledger compares once more when it writes.
"""

from collections.abc import Awaitable, Callable
from typing import Annotated, TypeVar

from fastapi import Header

from commonplace.domain.errors import Conflict
from commonplace.domain.plain import etag_of
from commonplace.interfaces.http.problems import ChangedMeanwhile

IfMatch = Annotated[
    str | None,
    Header(
        description="The ETag of what was read: refused if it has changed since.",
        examples=['"0f1e2d3c4b5a69788796a5b4c3d2e1f0"'],
    ),
]
T = TypeVar("T")
R = TypeVar("R")
ATTEMPTS = 50
"""How often `If-Match: *` is tried again while others change the same thing."""


async def changed(
    if_match: str | None, *, read: Callable[[], Awaitable[T | None]], change: Callable[[T | None], Awaitable[R]]
) -> R:
    """Change something if it is what the condition names. `change` is given what it must still be; None: anything.

    Raises ChangedMeanwhile if the condition does not hold.
    """
    if if_match is None:
        return await change(None)
    for _ in range(ATTEMPTS):
        current = await read()
        _check(if_match, None if current is None else etag_of(current))
        try:
            return await change(current)
        except Conflict:
            continue
    raise ChangedMeanwhile(f"If-Match: {if_match[:100]}: it was changed {ATTEMPTS} times meanwhile")


def _check(if_match: str, current: str | None) -> None:
    """Raise ChangedMeanwhile unless the condition holds. `current` is None where nothing is there."""
    named = [tag.strip() for tag in if_match.split(",")]
    if current is None or ("*" not in named and current not in named):
        raise ChangedMeanwhile(f"If-Match: {if_match[:100]}: expected {current or 'nothing: there is none'}")
