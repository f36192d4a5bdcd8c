"""Copies elsewhere of what is forgotten: what to look for there, and that it is gone."""

from collections.abc import Sequence

from commonplace.domain.errors import Unavailable
from commonplace.domain.scope import Scope
from commonplace.domain.values import MessageId
from commonplace.engine.parts import Parts
from commonplace.ports.erasure import Removal
from commonplace.ports.ledger import MessageQuery

SAMPLED = 50
"""Messages that are looked for."""


class Traces:
    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    async def of(self, scope: Scope, removal: Removal) -> Sequence[MessageId]:
        """Return messages that nothing may hold once this is removed. Of a whole user, none is known after it.

        By their ids alone: what they say may be said in others that stay, as a greeting is in every conversation.
        """
        if self._parts.copies is None:
            return ()
        if removal.what.whole:
            page = await self._parts.ledger.messages(scope, MessageQuery(limit=SAMPLED))
            return [one.id for one in page.messages]
        return list(removal.messages)[:SAMPLED]

    async def erase(
        self, scopes: Sequence[Scope], messages: Sequence[MessageId]
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Remove every copy. Returns where it was looked for again, and notes. Raises Unavailable if it is found."""
        copies = self._parts.copies
        if copies is None:
            return (), ()
        left = await copies.erase(scopes, messages)
        if left is None:
            return (), (f"{copies.name} could not be reached: copies there are not used, and end in an hour at most",)
        if left:
            raise Unavailable(f"{copies.name}: {left} copies of it are still there")
        return (copies.name,), ()
