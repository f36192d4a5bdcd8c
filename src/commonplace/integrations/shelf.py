"""Things that a framework puts away under a name and wants back as they were: each is a fact of one user.

So `recall`, `context`, export and forget know of them. What the framework gave is in the fact's metadata. A fact that
begins at the moment it was first put away is another one than a fact with the same words, so two may say the same.
"""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from commonplace.domain.values import Fact, Json, Recalled
from commonplace.sync import Memory

KIND = "semantic"
PAGE = 1_000
SPARE = 20
"""So many more are recalled, to be put in the order of relevance alone."""

Where = Mapping[str, Any]


class Shelf:
    def __init__(self, memory: Memory, user: str | None) -> None:
        self._memory, self._user = memory, user

    def first(self, where: Where) -> Fact | None:
        return next(iter(self._memory.facts(user=self._user, where=where, limit=1)), None)

    def all(self, where: Where) -> Iterator[Fact]:
        """Yield what is there, the latest first."""
        cursor = None
        while True:
            page = self._memory.facts(user=self._user, where=where, limit=PAGE, cursor=cursor)
            yield from page
            if (cursor := page.next_cursor) is None:
                return

    def nearest(self, query: str, where: Where, limit: int) -> list[Recalled]:
        """Return up to `limit`, the most relevant first: the framework asks for so many, not for what matters."""
        wanted = limit + SPARE if limit else 0
        hits = self._memory.recall(
            query, user=self._user, kinds=KIND, where=where, limit=min(wanted, 10_000), min_relevance=0.0
        )
        return sorted(hits, key=lambda hit: -hit.relevance)[:limit]

    def put(
        self, text: str, metadata: Mapping[str, Json], *, over: Fact | None = None, expires_at: datetime | None = None
    ) -> None:
        """Put something away, or something else `over` what was there: that stays in the history."""
        if over is not None and over.text != text:
            self._memory.revise(over.id, text, user=self._user)
        self._memory.remember(
            text,
            user=self._user,
            kind=KIND,
            valid_from=datetime.now(UTC) if over is None else over.valid_from,
            expires_at=expires_at,
            metadata=metadata,
        )

    def remove(self, fact: Fact) -> None:
        """Erase it, with its history."""
        self._memory.forget(fact=fact.id, user=self._user)
