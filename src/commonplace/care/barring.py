"""Whether a record was forgotten here: receipts tell, by what they name and when.

A fact or summary that rests on a forgotten message is barred as a whole: what of it could stay was kept by the forget.
"""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from commonplace.domain.archive import Held, KeptFact, KeptJob, KeptMessage, KeptSession, KeptSummary
from commonplace.domain.receipts import Part, Receipt
from commonplace.domain.retention import Due
from commonplace.domain.values import (
    Block,
    BlockVersion,
    Fact,
    FactChange,
    FactId,
    Message,
    MessageId,
    SessionId,
    Source,
)
from commonplace.ports.erasure import without


class Barring:
    def __init__(self, receipts: Sequence[Receipt], *, told: Callable[[Message], datetime]) -> None:
        """`told` says when a message came to be known; a receipt covers what was known by then."""
        self._receipts, self._told = receipts, told
        self._messages: set[MessageId] = set()
        self._facts: set[FactId] = set()

    def bars(self, record: Held) -> bool:
        """Say whether it must not come back. Ask in the order of the archive: what a record points to comes first."""
        if not self._receipts:
            return False
        match record:
            case KeptMessage(message=message):
                return self._bars_message(message)
            case KeptFact(fact=fact):
                return self._bars_fact(fact)
            case Source() | FactChange():
                return record.fact in self._facts or record.message in self._messages
        return self._bars_other(record)

    def _bars_other(self, record: Held) -> bool:
        match record:
            case KeptSummary(summary=summary):
                of_forgotten = not self._messages.isdisjoint(summary.messages)
                return of_forgotten or self._any(summary.made_at, lambda part: part.whole)
            case KeptSession():
                return self._any(record.started_at, lambda part: _covers_session(part, record.id, record.last_seen))
            case BlockVersion():
                return self._any(record.since, lambda part: part.whole)
            case Block():
                return self._any(record.updated_at, lambda part: part.whole)
            case KeptJob():
                rest = without(record.payload, frozenset(self._messages))
                return rest != record.payload or self._any(record.run_at, lambda part: part.whole)
        return False

    def _bars_message(self, message: Message) -> bool:
        if self._any(self._told(message), lambda part: _covers_message(part, message)):
            self._messages.add(message.id)
        return message.id in self._messages

    def _bars_fact(self, fact: Fact) -> bool:
        of_forgotten = not self._messages.isdisjoint(fact.sources)
        if of_forgotten or self._any(fact.recorded_at, lambda part: _covers_fact(part, fact)):
            self._facts.add(fact.id)
        return fact.id in self._facts

    def _any(self, known_at: datetime, covers: Callable[[Part], bool]) -> bool:
        return any(known_at <= receipt.requested_at and covers(receipt.what) for receipt in self._receipts)


def _covers_message(part: Part, message: Message) -> bool:
    return (
        part.fact is None
        and part.session in (None, message.session)
        and part.message in (None, message.id)
        and (part.before is None or message.at < part.before)
        and (part.due is None or _is_due(part.due, "message", message.at, message.expires_at))
    )


def _is_due(due: Due, kind: str, said_at: datetime, expires_at: datetime | None) -> bool:
    expired = expires_at is not None and expires_at <= due.at
    return expired or (kind in due.said_before and said_at < due.said_before[kind])


def _covers_fact(part: Part, fact: Fact) -> bool:
    """Tell of a fact by itself. One of messages is covered with them, if it is covered."""
    if part.fact is not None:
        return part.fact == fact.id
    if part.due is not None:
        return _is_due(part.due, fact.kind, fact.said_at, fact.expires_at)
    by_time = part.before is not None and part.session is None and part.message is None
    return part.whole or (by_time and not fact.sources and part.before is not None and fact.said_at < part.before)


def _covers_session(part: Part, session: SessionId, last_seen: datetime) -> bool:
    if part.message is not None or part.fact is not None or part.session not in (None, session):
        return False
    before = part.before if part.due is None else part.due.said_before.get("message", datetime.min.replace(tzinfo=UTC))
    return before is None or last_seen < before
