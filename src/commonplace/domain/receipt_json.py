"""Receipts, and what they are about, as JSON: the form in which every ledger keeps them."""

from typing import Any

from commonplace.domain.receipts import Part, Receipt
from commonplace.domain.retention import Due
from commonplace.domain.times import from_micros, to_micros
from commonplace.domain.values import FactId, Json, MessageId, SessionId


def part_json(part: Part) -> dict[str, Json]:
    return {
        "session": part.session,
        "before": None if part.before is None else to_micros(part.before),
        "message": part.message,
        "fact": part.fact,
        **({"due": _due_json(part.due)} if part.due is not None else {}),
    }


def _due_json(due: Due) -> Json:
    return {
        "at": to_micros(due.at),
        "said_before": {kind: to_micros(moment) for kind, moment in due.said_before.items()},
    }


def _due_of(column: dict[str, Any]) -> Due:
    said_before = {kind: from_micros(moment) for kind, moment in column["said_before"].items()}
    return Due(at=from_micros(column["at"]), said_before=said_before)


def part_of(column: dict[str, Any]) -> Part:
    session, before, message, fact = (column[name] for name in ("session", "before", "message", "fact"))
    return Part(
        session=None if session is None else SessionId(session),
        before=None if before is None else from_micros(before),
        message=None if message is None else MessageId(message),
        fact=None if fact is None else FactId(fact),
        due=_due_of(column["due"]) if "due" in column else None,
    )


def receipt_json(receipt: Receipt) -> dict[str, Json]:
    assert receipt.at is not None
    return {
        "id": receipt.id,
        "user": receipt.user,
        "what": part_json(receipt.what),
        "counts": {store: dict(counts) for store, counts in receipt.counts.items()},
        "digest": receipt.digest,
        "requested_at": to_micros(receipt.requested_at),
        "at": to_micros(receipt.at),
        "verified": list(receipt.verified),
        "notes": list(receipt.notes),
    }


def receipt_of(column: dict[str, Any]) -> Receipt:
    return Receipt(
        id=column["id"],
        user=column["user"],
        what=part_of(column["what"]),
        counts=column["counts"],
        digest=column["digest"],
        requested_at=from_micros(column["requested_at"]),
        at=from_micros(column["at"]),
        verified=tuple(column["verified"]),
        notes=tuple(column["notes"]),
    )
