"""context: what is recalled, with what was said beside it, packed into a budget."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence

from commonplace.domain.results import Context, Recollection
from commonplace.domain.scope import Scope
from commonplace.domain.values import Block, Message, MessageId, Recalled, SessionId
from commonplace.engine.parts import Parts
from commonplace.ports.ledger import Beside
from commonplace.recall.assemble import Near, assemble
from commonplace.recall.passages import passages
from commonplace.recall.request import Request
from commonplace.recall.stale import note_of

ITEMS = 40
"""What a context is packed from: more than a usual budget holds."""
WITH_NEIGHBOURS = 12
"""So many of the messages found, the best of them, may bring what was said beside them."""
ANSWERED, BEFORE, AFTER = 0.5, 0.15, 0.1
"""What a neighbour is worth beside the message that was found: as its question or answer, or just for being there."""

Recall = Callable[[Scope, Request], Awaitable[Recollection]]
Wishes = Callable[[Scope], Awaitable[Sequence[Recalled]]]


class Contexts:
    def __init__(self, parts: Parts, recall: Recall, wishes: Wishes) -> None:
        self._parts, self._recall, self._wishes = parts, recall, wishes

    async def context(
        self, scope: Scope, query: str, *, session: SessionId | None, budget: int, blocks: bool = True
    ) -> Context:
        """Return what answers, packed. `session` is the conversation going on, which the prompt has already."""
        # The short reads are done while the query is embedded.
        found, wishes, written = await asyncio.gather(
            self._recall(scope, Request(query=query, limit=ITEMS, fold=False)),
            self._wishes(scope),
            self._blocks(scope, wanted=blocks),
        )
        items, wanted = ([one for one in some if session is None or one.session != session] for some in (found, wishes))
        return assemble(
            items,
            written,
            budget=budget,
            count=self._parts.count_tokens,
            near=await self.near(scope, items),
            wishes=wanted,
            notes=found.notes,
        )

    async def _blocks(self, scope: Scope, *, wanted: bool) -> Sequence[Block]:
        return await self._parts.ledger.blocks(scope) if wanted else []

    async def near(self, scope: Scope, items: Sequence[Recalled]) -> Mapping[str, Sequence[Near]]:
        """Return, by the id of a message that was found, the messages beside it."""
        said = [item for item in items if item.kind == "message"][:WITH_NEIGHBOURS]
        if not said:
            return {}
        beside = await self._parts.ledger.beside(scope, [MessageId(item.id) for item in said])
        ids = list(dict.fromkeys(one for pair in beside.values() for one in pair if one is not None))
        shown = await self._parts.ledger.shown(scope, ids, [])
        now = self._parts.now()
        beheld = {
            id_: (message, note_of(shown.taught.get(id_, ()), at=now))
            for id_, message in shown.messages.items()
            if message.expires_at is None or message.expires_at > now
        }
        return {item.id: _near(item, beside[MessageId(item.id)], beheld) for item in said if item.id in beside}


def _near(item: Recalled, beside: Beside, beheld: Mapping[MessageId, tuple[Message, str | None]]) -> list[Near]:
    found: list[Near] = []
    if beside.before is not None and beside.before in beheld:
        message, note = beheld[beside.before]
        found.append(Near(_recalled(message, note, last=True), ANSWERED if _asks(message.text) else BEFORE, True))
    if beside.after is not None and beside.after in beheld:
        message, note = beheld[beside.after]
        found.append(Near(_recalled(message, note, last=False), ANSWERED if _asks(item.text) else AFTER, False))
    return found


def _asks(text: str) -> bool:
    return text.rstrip().endswith(("?", "？"))


def _recalled(message: Message, note: str | None, *, last: bool) -> Recalled:
    """Return a neighbour as it is shown: of a long one only the passage that is next to the message found."""
    spans = passages(message.text)
    start, stop = spans[-1] if last else spans[0]
    return Recalled(
        text=message.text,
        kind="message",
        id=message.id,
        at=message.at,
        score=0.0,
        relevance=0.0,
        sources=(message.id,),
        session=message.session,
        role=message.role,
        name=message.name,
        passage=message.text[start:stop] if len(spans) > 1 else None,
        note=note,
        metadata=message.metadata,
    )
