"""Facts and their history in the dicts that mem0 returns."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any

from commonplace.domain.errors import InvalidInput
from commonplace.domain.values import ChangeKind, Fact, FactVersion, Metadata, Recalled
from commonplace.integrations.mem0.scoping import IDENTITY, identity_of, memory_id

Item = dict[str, Any]
PROMOTED = (*IDENTITY, "actor_id", "role")
EVENTS: Mapping[ChangeKind, str] = {
    "remembered": "ADD",
    "learned": "ADD",
    "reinforced": "NONE",
    "revised": "UPDATE",
    "refined": "UPDATE",
    "replaced": "DELETE",
    "ended": "DELETE",
    "retracted": "DELETE",
    "restored": "ADD",
}


def found(one: Recalled, owner: str) -> Item:
    return _item(one.id, one.text, one.metadata, owner) | {
        "created_at": one.at.isoformat(),
        "updated_at": one.at.isoformat(),
        "score": one.score,
    }


def held(versions: Sequence[FactVersion], owner: str) -> Item:
    fact = versions[-1].fact
    item = _item(fact.id, fact.text, fact.metadata, owner)
    if fact.expires_at is not None:
        item["expiration_date"] = (fact.expires_at - timedelta(days=1)).date().isoformat()
    return item | {
        "created_at": versions[0].recorded_at.isoformat(),
        "updated_at": fact.recorded_at.isoformat(),
    }


def _item(fact: str, text: str, metadata: Metadata, owner: str) -> Item:
    rest = {name: value for name, value in metadata.items() if name not in PROMOTED}
    promoted = {name: metadata[name] for name in PROMOTED if name in metadata}
    item: Item = {
        "id": memory_id(fact, owner),
        "memory": text,
        "hash": hashlib.md5(text.encode(), usedforsecurity=False).hexdigest(),
    }
    return item | identity_of(owner) | promoted | ({"metadata": rest} if rest else {})


def holds(fact: Fact, now: datetime) -> bool:
    """Whether a memory is still there, as mem0 means it: neither ended nor expired."""
    ends = [moment for moment in (fact.retracted_at, fact.valid_to, fact.expires_at) if moment is not None]
    return all(moment > now for moment in ends)


def events(versions: Sequence[FactVersion], owner: str) -> Iterator[Item]:
    """Yield the rows of mem0's `history`, oldest first."""
    before: str | None = None
    for version in versions:
        for change in version.changes:
            event = EVENTS[change.change]
            if event == "NONE":
                continue
            yield {
                "id": f"{change.fact}/{change.version}",
                "memory_id": memory_id(change.fact, owner),
                "old_memory": before,
                "new_memory": None if event == "DELETE" else version.text,
                "event": event,
                "created_at": versions[0].recorded_at.isoformat(),
                "updated_at": change.at.isoformat(),
                "is_deleted": event == "DELETE",
                "actor_id": None,
                "role": None,
            }
        before = version.text


def expiry(day: object) -> datetime | None:
    """Return when a memory with an `expiration_date` is gone: at the end of that day, in UTC."""
    if day is None:
        return None
    try:
        last = day if isinstance(day, date) else date.fromisoformat(str(day))
    except ValueError as error:
        raise InvalidInput(f"expiration_date={day!r}: expected YYYY-MM-DD") from error
    return datetime(last.year, last.month, last.day, tzinfo=UTC) + timedelta(days=1)
