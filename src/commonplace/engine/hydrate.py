"""From hits to things that can be shown, read from the ledger: what is no longer there is not shown."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from commonplace.domain.scope import Scope
from commonplace.domain.values import Fact, FactId, Message, MessageId, Recalled, Summary, SummaryId, Why
from commonplace.ports.ledger import Ledger, Shown
from commonplace.recall.carried import Carried, carried, without_text
from commonplace.recall.order import Weighed
from commonplace.recall.stale import note_of

OTHERS = frozenset({"message", "summary"})
"""Kinds that are no fact's."""


class Terms(NamedTuple):
    """What holds for every item of a search."""

    path: str = "exact"
    threshold: float = 0.0
    weights: Mapping[str, float] = {}


async def hydrate(
    ledger: Ledger, scope: Scope, weighed: Sequence[Weighed], *, at: datetime, explain: Terms | None
) -> list[Recalled]:
    """Return the hits as recalled things, in their order, each message with what no longer held at that moment."""
    said = [MessageId(found.hit.id) for found in weighed if found.hit.kind == "message"]
    keys = [(FactId(found.hit.id), found.hit.version) for found in weighed if found.hit.kind not in OTHERS]
    stretches = [SummaryId(found.hit.id) for found in weighed if found.hit.kind == "summary"]
    there = await ledger.shown(scope, said, keys, stretches) if weighed else Shown({}, {}, {}, {})
    shown: list[Recalled] = []
    for found in weighed:
        hit, why = found.hit, None if explain is None else why_of(found, explain)
        message, fact = there.messages.get(MessageId(hit.id)), there.facts.get((FactId(hit.id), hit.version))
        summary = there.summaries.get(SummaryId(hit.id))
        if hit.kind == "message" and message is not None:
            shown.append(_said(message, found, note_of(there.taught.get(message.id, ()), at=at), why))
        elif hit.kind == "summary" and summary is not None:
            shown.append(_summed_up(summary, found, why))
        elif hit.kind not in OTHERS and fact is not None:
            shown.append(_known(fact, found, why))
    return shown


def _said(message: Message, found: Weighed, note: str | None, why: Why | None) -> Recalled:
    spans = carried(message)
    matched = spans[min(found.passage, len(spans) - 1)]
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
        passage=_passage(matched, message),
        note=note,
        metadata=message.metadata,
        attachments=without_text(message.attachments),
        why=why,
    )


def _passage(matched: Carried, message: Message) -> str | None:
    """Return what matched, if that is not the whole message; of a file, with its name."""
    if not matched.text or matched.text == message.text:
        return None
    file = matched.attachment
    return matched.text if file is None else f"[{file.name or file.type}] {matched.text}"


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


def _summed_up(summary: Summary, found: Weighed, why: Why | None) -> Recalled:
    return Recalled(
        text=summary.text,
        kind="summary",
        id=summary.id,
        at=summary.until,
        score=found.score,
        relevance=found.hit.relevance,
        sources=summary.messages,
        session=summary.session,
        metadata={"author": summary.author, "since": summary.since.isoformat()},
        why=why,
    )


def why_of(found: Weighed, terms: Terms) -> Why:
    hit = found.hit
    return Why(
        relevance=hit.relevance,
        importance=found.importance,
        recency=found.recency,
        arms=hit.arms,
        parts=hit.parts,
        fused=hit.score,
        evidence=hit.evidence,
        threshold=terms.threshold,
        weights=terms.weights,
        rerank=found.rerank,
        path=terms.path,
    )
