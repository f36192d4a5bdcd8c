"""From hits to things that can be shown, read from the ledger: what is no longer there is not shown."""

from collections.abc import Sequence
from datetime import datetime

from commonplace.domain.scope import Scope
from commonplace.domain.values import Fact, FactId, Message, MessageId, Recalled, Why
from commonplace.ports.ledger import Ledger
from commonplace.recall.order import Weighed
from commonplace.recall.passages import passages
from commonplace.recall.stale import note_of


async def hydrate(
    ledger: Ledger, scope: Scope, weighed: Sequence[Weighed], *, at: datetime, path: str, explain: bool
) -> list[Recalled]:
    """Return the hits as recalled things, in their order, each message with what no longer held at that moment."""
    said = [MessageId(found.hit.id) for found in weighed if found.hit.kind == "message"]
    keys = [(FactId(found.hit.id), found.hit.version) for found in weighed if found.hit.kind != "message"]
    messages, facts, taught = await ledger.shown(scope, said, keys) if weighed else ({}, {}, {})
    shown: list[Recalled] = []
    for found in weighed:
        hit, why = found.hit, _why(found, path) if explain else None
        message, fact = messages.get(MessageId(hit.id)), facts.get((FactId(hit.id), hit.version))
        if hit.kind == "message" and message is not None:
            shown.append(_said(message, found, note_of(taught.get(message.id, ()), at=at), why))
        elif hit.kind != "message" and fact is not None:
            shown.append(_known(fact, found, why))
    return shown


def _said(message: Message, found: Weighed, note: str | None, why: Why | None) -> Recalled:
    spans = passages(message.text)
    start, stop = spans[min(found.passage, len(spans) - 1)]
    return Recalled(
        text=message.text,
        kind="message",
        id=message.id,
        at=message.at,
        score=found.score,
        relevance=found.hit.relevance,
        sources=(message.id,),
        session=message.session,
        role=message.role,
        name=message.name,
        passage=message.text[start:stop] if len(spans) > 1 else None,
        note=note,
        metadata=message.metadata,
        why=why,
    )


def _known(fact: Fact, found: Weighed, why: Why | None) -> Recalled:
    return Recalled(
        text=fact.text,
        kind=fact.kind,
        id=fact.id,
        at=fact.said_at,
        score=found.score,
        relevance=found.hit.relevance,
        sources=fact.sources,
        valid_from=fact.valid_from,
        valid_to=fact.valid_to,
        metadata=fact.metadata,
        why=why,
    )


def _why(found: Weighed, path: str) -> Why:
    hit = found.hit
    return Why(
        relevance=hit.relevance,
        importance=found.importance,
        recency=found.recency,
        arms=hit.arms,
        parts=hit.parts,
        path=path,
    )
