"""Facts and their history in the dicts that mem0 returns."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from commonplace.domain.values import ChangeKind, Fact, FactVersion, Recalled
from commonplace.integrations.mem0.scoping import IDENTITY, identity_of
from commonplace.integrations.owned import owned_id

Item = dict[str, Any]
PROMOTED = (*IDENTITY, "actor_id", "role")
EVENTS: Mapping[ChangeKind, str] = {
    **dict.fromkeys(("remembered", "learned", "restored"), "ADD"),
    **dict.fromkeys(("revised", "refined"), "UPDATE"),
    **dict.fromkeys(("replaced", "ended", "retracted"), "DELETE"),
}
"""What mem0 calls a change. Being told the same again is none."""


def event(name: str, fact: Fact, owner: str) -> Item:
    return {"id": owned_id(fact.id, owner), "memory": fact.text, "event": name}


def held(versions: Sequence[FactVersion], owner: str) -> Item | None:
    """Return a memory that is still there, as mem0 means it: neither ended nor expired."""
    if not versions or not (fact := versions[-1].fact).holds(datetime.now(UTC)):
        return None
    last = {} if fact.expires_at is None else {"expiration_date": str((fact.expires_at - timedelta(days=1)).date())}
    return item(fact, owner, created=versions[0].recorded_at, updated=fact.recorded_at) | last


def item(one: Recalled | Fact, owner: str, *, created: datetime, updated: datetime) -> Item:
    rest = {name: value for name, value in one.metadata.items() if name not in PROMOTED}
    return {
        "id": owned_id(one.id, owner),
        "memory": one.text,
        "hash": hashlib.md5(one.text.encode(), usedforsecurity=False).hexdigest(),
        "created_at": created.isoformat(),
        "updated_at": updated.isoformat(),
        **identity_of(owner),
        **{name: one.metadata[name] for name in PROMOTED if name in one.metadata},
        **({"metadata": rest} if rest else {}),
    }


def events(versions: Sequence[FactVersion], owner: str) -> Iterator[Item]:
    """Yield the rows of mem0's `history`, oldest first."""
    before: str | None = None
    for version in versions:
        for change in version.changes:
            if (event := EVENTS.get(change.change)) is not None:
                yield {
                    "id": f"{change.fact}/{change.version}",
                    "memory_id": owned_id(change.fact, owner),
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
