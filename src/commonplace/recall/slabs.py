"""A partition piece by piece, for work that must not hold all of it, in the order of row numbers: new rows come last.

Each piece is read at one moment, the whole is not: what is decided on a piece is looked at again before it is shown.
"""

from collections.abc import AsyncIterator

from commonplace.domain.scope import Scope
from commonplace.ports.ledger import Feed, IndexFeed
from commonplace.recall.projector import numbers_of

SLAB = 4_096
"""Rows: about 10 MB with their vectors."""


async def slabs(ledger: IndexFeed, scope: Scope, *, rows: int = SLAB, vectors: bool = True) -> AsyncIterator[Feed]:
    after = 0
    while True:
        feed = await ledger.slab(scope, after=after, limit=rows, vectors=vectors)
        numbers = numbers_of(feed)
        if not numbers:
            return
        yield feed
        after = max(numbers)
