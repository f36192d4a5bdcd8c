"""A ledger with Redis in front of it. What is written goes to the ledger first, and is the truth when it is there.

Methods that are not named here are the ledger's own, bound one by one, so that it is still seen to have what it has.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import cast

from commonplace.adapters.redis.editions import Editions
from commonplace.adapters.redis.keys import Keys
from commonplace.adapters.redis.ring import RedisRing
from commonplace.adapters.redis.server import Server
from commonplace.adapters.redis.sessions import RedisSessions
from commonplace.domain.archive import Held, Written
from commonplace.domain.scope import Scope
from commonplace.domain.values import Message, MessageId, SessionId
from commonplace.ports.erasure import Erased, Removal
from commonplace.ports.ledger import Change, Ledger

SESSIONS = (
    "session_state",
    "update_session",
    "touch_session",
    "end_session",
    "session_info",
    "active_sessions",
    "clean_sessions",
)


class FrontedLedger:
    """Passes for a Ledger: see `fronted`."""

    def __init__(self, ledger: Ledger, server: Server, *, ring: int) -> None:
        keys = Keys(ledger.name)
        self._ledger, self._editions = ledger, Editions(server, keys)
        self._ring = RedisRing(ledger, server, keys, self._editions, size=ring)
        sessions = RedisSessions(ledger, server, keys, self._editions)
        ours = {name: getattr(sessions, name) for name in SESSIONS}
        for name in (one for one in dir(ledger) if not one.startswith("_") and not hasattr(type(self), one)):
            setattr(self, name, ours.get(name) or getattr(ledger, name))

    async def recent(self, scope: Scope, session: SessionId, *, limit: int) -> Sequence[Message]:
        return await self._ring.recent(scope, session, limit=limit)

    async def write(self, scope: Scope, *changes: Change) -> frozenset[MessageId]:
        if not any(change.messages for change in changes):
            return await self._ledger.write(scope, *changes)
        async with self._editions.changing(scope):
            return await self._ledger.write(scope, *changes)

    async def write_archive(self, scope: Scope, records: Sequence[Held]) -> Written:
        async with self._editions.changing(scope):
            return await self._ledger.write_archive(scope, records)

    async def erase(self, scope: Scope, removal: Removal, *, dry_run: bool = False) -> Erased:
        async with self._editions.changing(scope):
            return await self._ledger.erase(scope, removal, dry_run=dry_run)

    async def erase_tenant(
        self, tenant: str, *, at: datetime, new_id: Callable[[], str], dry_run: bool = False
    ) -> Sequence[Erased]:
        erased = await self._ledger.erase_tenant(tenant, at=at, new_id=new_id, dry_run=dry_run)
        await self._editions.end(*(one.scope for one in erased))
        return erased


def fronted(ledger: Ledger, server: Server, *, ring: int) -> Ledger:
    """Return the ledger with Redis in front of it. Its `recent` is there too: it is a `ports.recent.Recent`."""
    return cast(Ledger, FrontedLedger(ledger, server, ring=ring))
