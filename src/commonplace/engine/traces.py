"""Copies elsewhere of what is forgotten: what to look for there, and that it is gone."""

from collections.abc import Sequence

from commonplace.domain.errors import Unavailable
from commonplace.domain.scope import Scope
from commonplace.domain.values import Message
from commonplace.engine.parts import Parts
from commonplace.ports.erasure import Removal
from commonplace.ports.ledger import MessageQuery

SAMPLED = 50
"""Messages whose ids and words are looked for."""
LONG = 24
"""Letters from which on a text is rare enough to be looked for where others of the same user stay."""


class Traces:
    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    async def of(self, scope: Scope, removal: Removal) -> Sequence[str]:
        """Return what nothing may hold once this is removed: ids, and some of the words. Nothing is known after it."""
        if self._parts.copies is None:
            return ()
        if removal.what.whole:
            messages = (await self._parts.ledger.messages(scope, MessageQuery(limit=SAMPLED))).messages
            return [*(one.id for one in messages), *_words(messages)]
        ids = list(removal.messages)[:SAMPLED]
        texts = (await self._parts.ledger.messages_by_id(scope, ids)).values()
        return [*ids, *(one.text for one in texts if len(one.text) >= LONG)]

    async def erase(self, scopes: Sequence[Scope], traces: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Remove every copy. Returns where it was looked for again, and notes. Raises Unavailable if it is found."""
        copies = self._parts.copies
        if copies is None:
            return (), ()
        left = await copies.erase(scopes, traces)
        if left is None:
            return (), (f"{copies.name} could not be reached: copies there are not used, and end in an hour at most",)
        if left:
            raise Unavailable(f"{copies.name}: {left} copies of it are still there")
        return (copies.name,), ()


def _words(messages: Sequence[Message]) -> Sequence[str]:
    """Return the longest word of each text."""
    return [max(one.text.split(), key=len) for one in messages if one.text.strip()]
