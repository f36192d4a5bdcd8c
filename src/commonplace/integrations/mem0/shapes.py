"""Facts and their history in the dicts that mem0 returns."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from commonplace.domain.errors import InvalidInput
from commonplace.domain.values import ChangeKind, Fact, FactVersion, Recalled
from commonplace.integrations.mem0.scoping import IDENTITY, identity_of, memory_id

Item = dict[str, Any]
PROMOTED = (*IDENTITY, "actor_id", "role")
ADDED, CHANGED, GONE = "ADD", "UPDATE", "DELETE"
EVENTS: Mapping[ChangeKind, str] = {
    **dict.fromkeys(("remembered", "learned", "restored"), ADDED),
    **dict.fromkeys(("revised", "refined"), CHANGED),
    **dict.fromkeys(("replaced", "ended", "retracted"), GONE),
}
"""What mem0 calls a change. Being told the same again is none."""


def found(one: Recalled, owner: str) -> Item:
    return {**_item(one, owner, created=one.at, updated=one.at), "score": one.score}


def held(versions: Sequence[FactVersion], owner: str) -> Item:
    fact = versions[-1].fact
    last = {} if fact.expires_at is None else {"expiration_date": str((fact.expires_at - timedelta(days=1)).date())}
    return _item(fact, owner, created=versions[0].recorded_at, updated=fact.recorded_at) | last


def _item(one: Recalled | Fact, owner: str, *, created: datetime, updated: datetime) -> Item:
    item = {
        "id": memory_id(one.id, owner),
        "memory": one.text,
        "hash": hashlib.md5(one.text.encode(), usedforsecurity=False).hexdigest(),
        "created_at": created.isoformat(),
        "updated_at": updated.isoformat(),
        **identity_of(owner),
    }
    rest = {name: value for name, value in one.metadata.items() if name not in PROMOTED}
    promoted = {name: one.metadata[name] for name in PROMOTED if name in one.metadata}
    return item | promoted | ({"metadata": rest} if rest else {})


def holds(fact: Fact, now: datetime) -> bool:
    """Whether a memory is still there, as mem0 means it: neither ended nor expired."""
    return all(end is None or end > now for end in (fact.retracted_at, fact.valid_to, fact.expires_at))


def events(versions: Sequence[FactVersion], owner: str) -> Iterator[Item]:
    """Yield the rows of mem0's `history`, oldest first."""
    before: str | None = None
    for version in versions:
        for change in version.changes:
            if (event := EVENTS.get(change.change)) is not None:
                yield {
                    "id": f"{change.fact}/{change.version}",
                    "memory_id": memory_id(change.fact, owner),
                    "old_memory": before,
                    "new_memory": None if event == GONE else version.text,
                    "event": event,
                    "created_at": versions[0].recorded_at.isoformat(),
                    "updated_at": change.at.isoformat(),
                    "is_deleted": event == GONE,
                    "actor_id": None,
                    "role": None,
                }
        before = version.text


def expiry(day: object) -> datetime | None:
    """Return when a memory with an `expiration_date` is gone: at the end of that day, in UTC."""
    try:
        last = day if isinstance(day, date | None) else date.fromisoformat(str(day))
    except ValueError as error:
        raise InvalidInput(f"expiration_date={day!r}: expected YYYY-MM-DD") from error
    return None if last is None else datetime.combine(last, time(), UTC) + timedelta(days=1)
