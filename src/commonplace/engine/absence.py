"""Why-not: what kept an item out of the results of a query, told with the same code that made them."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Literal

from commonplace.domain.results import Folded, Recollection, WhyNot
from commonplace.domain.scope import Scope
from commonplace.domain.times import day
from commonplace.domain.values import (
    Fact,
    FactChange,
    FactId,
    FactVersion,
    Kind,
    Message,
    MessageId,
    Recalled,
    Summary,
    SummaryId,
)
from commonplace.engine.corpora import Corpora, Part
from commonplace.engine.hydrate import why_of
from commonplace.engine.parts import Parts
from commonplace.engine.recalling import Recalling, Searched, filters_of
from commonplace.ports.ledger import Versions
from commonplace.recall.calibrate import THRESHOLD
from commonplace.recall.corpus import Corpus
from commonplace.recall.order import NOTHING, Weighed
from commonplace.recall.request import Request
from commonplace.recall.trace import in_time, leaving_out, slots_of

ENDING = ("ended", "replaced", "refined", "revised")


class Absence:
    def __init__(self, parts: Parts, corpora: Corpora, recalling: Recalling) -> None:
        self._parts, self._corpora, self._recalling = parts, corpora, recalling

    async def why_not(self, scope: Scope, item: str, request: Request) -> WhyNot:
        """Say why an item is not among the results of a request, or at which place it is."""
        now, request = self._parts.now(), replace(request, explain=True)
        history = await self._parts.ledger.history(scope, FactId(item))
        said = None if history else await self._said(scope, item)
        if not history and said is None:
            return WhyNot(id=item, reason="unknown", explanation=f"nothing with the id {item!r} is known of this user")
        known = _known(item, history[-1].fact if said is None else said)
        excluded = await self._excluded(scope, item, request, now)
        if excluded == ("time",):
            return _untimely(known, history, said, request, now)
        if excluded:
            words = " and ".join(excluded)
            return replace(known, reason="filtered", filters=excluded, explanation=f"left out by {words}")
        return await self._ranked(scope, known, request, now)

    async def _said(self, scope: Scope, item: str) -> Message | Summary | None:
        shown = await self._parts.ledger.shown(scope, [MessageId(item)], [], [SummaryId(item)])
        return shown.messages.get(MessageId(item)) or shown.summaries.get(SummaryId(item))

    async def _excluded(self, scope: Scope, item: str, request: Request, now: datetime) -> tuple[str, ...]:
        filters = filters_of(request, now)

        async def mine(slab: Corpus) -> Iterable[int]:
            return [int(slab.rows.number.cells[slot]) for slot in slots_of(slab, item)]

        async def beyond(versions: Versions) -> Part:
            return await self._recalling.oversized.winnowed(scope, versions, mine)

        async with self._corpora.at_hand(scope, beyond) as part:
            if not in_time(part.corpus, item, filters):
                return ("time",)
            return leaving_out(part.corpus, item, filters)

    async def _ranked(self, scope: Scope, known: WhyNot, request: Request, now: datetime) -> WhyNot:
        found = await self._recalling.recall(scope, request)
        places = [place for place, shown in enumerate(found, 1) if shown.id == known.id]
        if places:
            why, place = found[places[0] - 1].why, places[0]
            return replace(known, reason="returned", rank=place, why=why, explanation=f"it is result {place}")
        folded = next((one for one in found.folded if one.id == known.id), None)
        if folded is not None:
            return _folded(known, folded, found)
        if not request.limit or not request.query.strip():
            return replace(known, reason="beyond the limit", last=_last(found), explanation=_later(request))
        searched = await self._recalling.search(scope, request, now, about=known.id)
        return _behind(known, searched, request, last=_last(found))


def _known(item: str, found: Fact | Message | Summary) -> WhyNot:
    kind: Kind = found.kind if isinstance(found, Fact) else "summary" if isinstance(found, Summary) else "message"
    return WhyNot(id=item, reason="unknown", explanation="", kind=kind, text=found.text)


def _last(found: Recollection) -> Recalled | None:
    return found[-1] if found else None


def _later(request: Request) -> str:
    return f"an empty query returns the latest {request.limit}, and it is older" if request.limit else "the limit is 0"


def _untimely(
    known: WhyNot, history: Sequence[FactVersion], said: Message | Summary | None, request: Request, now: datetime
) -> WhyNot:
    """Say why an item is not there at the moment that is asked about."""
    expires = said.expires_at if said else history[-1].fact.expires_at
    if expires is not None and expires <= now:
        return replace(known, reason="expired", since=expires, explanation=f"it expired on {day(expires)}")
    if isinstance(said, Summary):
        return _after(known, f"it was made on {day(said.made_at)}")
    if said is not None:
        return _after(known, f"it was said on {day(said.at)}")
    asked = request.as_of or now
    believed = [version for version in history if version.fact.recorded_at <= asked]
    if not believed:
        return _after(known, f"it was learned on {day(history[0].fact.recorded_at)}")
    changes = [change for version in history for change in version.changes]
    return _no_longer(known, believed[-1].fact, changes, asked=asked, valid=request.valid_at or asked)


def _after(known: WhyNot, happened: str) -> WhyNot:
    explanation = f"{happened}, after the moment asked about"
    return replace(known, reason="filtered", filters=("as_of",), explanation=explanation)


def _no_longer(known: WhyNot, fact: Fact, changes: Sequence[FactChange], *, asked: datetime, valid: datetime) -> WhyNot:
    if fact.retracted_at is not None and fact.retracted_at <= asked:
        return _told(known, "retracted", fact.retracted_at, _change(changes, ("retracted", "replaced")), fact)
    if fact.valid_to is not None and fact.valid_to <= valid:
        return _told(known, "ended", fact.valid_to, _change(changes, ENDING), fact)
    begins = fact.valid_from
    explanation = f"it holds from {day(begins)} on only" if begins else "it did not hold then"
    return replace(known, reason="not yet", since=begins, explanation=explanation)


def _change(changes: Sequence[FactChange], kinds: tuple[str, ...]) -> FactChange | None:
    return next((change for change in reversed(changes) if change.change in kinds), None)


def _told(
    known: WhyNot, reason: Literal["retracted", "ended"], since: datetime, change: FactChange | None, fact: Fact
) -> WhyNot:
    message = change.message if change else None
    explanation = f"it was {reason} on {day(since)}"
    explanation += f", by message {message}" if message else ""
    explanation += f", replaced by {fact.replaced_by}" if fact.replaced_by else ""
    explanation += f" ({change.reason})" if change and change.reason else ""
    return replace(
        known,
        reason=reason,
        since=since,
        message=message,
        by=fact.replaced_by,
        explanation=explanation,
    )


def _folded(known: WhyNot, folded: Folded, found: Recollection) -> WhyNot:
    place = next((n for n, item in enumerate(found, 1) if item.id == folded.into), None)
    at = f"{folded.into}, result {place}" if place else folded.into
    told = "says the same" if folded.how == "duplicate" else "is the fact learned from it and stands for it"
    return replace(known, reason=folded.how, by=folded.into, explanation=f"{at}, {told}")


def _behind(known: WhyNot, searched: Searched, request: Request, *, last: Recalled | None) -> WhyNot:
    """Say how far an item came that the filters let through."""
    trace, least = searched.trace, searched.terms.threshold
    for rank, found in enumerate(searched.weighed, 1):
        if found.hit.id == known.id:
            return _beyond(known, rank, found, searched, request, last=last)
    if trace is None:
        return replace(known, reason="not found", explanation="no arm found it: it shares too little with the query")
    if trace.found is None:
        arms = ", ".join(f"{arm} rank {rank}" for arm, (rank, _) in trace.arms.items())
        told = f"found ({arms}), but behind the {trace.rank - 1} best, and only those are compared word by word"
        return replace(known, reason="not compared", rank=trace.rank, explanation=told)
    why = why_of(trace.found, searched.terms)
    numbers = replace(known, rank=trace.rank, relevance=why.relevance, threshold=least, last=last, why=why)
    if least == NOTHING:
        told = (
            f"nothing is returned: the best item's relevance of {trace.best:.3f} is below the threshold of {THRESHOLD}"
        )
        return replace(numbers, reason="irrelevant", threshold=THRESHOLD, explanation=told)
    if why.relevance < least:
        told = f"its relevance of {why.relevance:.3f} is below the threshold of {least:.3f}"
        return replace(numbers, reason="irrelevant", explanation=told)
    told = f"it is number {trace.rank} of {trace.of} candidates by the fused score, and the limit is {request.limit}"
    return replace(numbers, reason="beyond the limit", explanation=told)


def _beyond(
    known: WhyNot, rank: int, found: Weighed, searched: Searched, request: Request, *, last: Recalled | None
) -> WhyNot:
    told = f"it is number {rank} of {len(searched.weighed)}, and the limit is {request.limit}"
    if last is not None:
        told += f": its score is {found.score:.3f}, that of the last one returned {last.score:.3f}"
    return replace(
        known,
        reason="beyond the limit",
        rank=rank,
        relevance=found.hit.relevance,
        threshold=searched.terms.threshold,
        why=why_of(found, searched.terms),
        last=last,
        explanation=told,
    )
