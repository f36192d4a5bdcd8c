"""A ledger with Redis in front of it. What is written goes to the ledger first, and is the truth when it is there.

Methods that are not named here are the ledger's own, bound one by one, so that it is still seen to have what it has.
"""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import datetime
from typing import NamedTuple, cast

from commonplace.adapters.redis.copies import RedisCopies
from commonplace.adapters.redis.editions import Editions
from commonplace.adapters.redis.embeddings import RedisEmbeddings
from commonplace.adapters.redis.keys import Keys
from commonplace.adapters.redis.news import RedisNews
from commonplace.adapters.redis.ring import RedisRing
from commonplace.adapters.redis.server import Access, Server
from commonplace.adapters.redis.sessions import RedisSessions
from commonplace.domain.archive import Held, Written
from commonplace.domain.scope import Scope
from commonplace.domain.values import Message, MessageId, SessionId
from commonplace.ports.erasure import Erased, Removal
from commonplace.ports.ledger import Change, Ledger
from commonplace.ports.recent import Recent
from commonplace.ports.shared import SharedCopies

SESSIONS = (
    "session_state",
    "update_session",
    "touch_session",
    "end_session",
    "session_info",
    "active_sessions",
    "clean_sessions",
)
EMBEDDINGS = ("cached_embeddings", "cache_embeddings")


class FrontedLedger:
    """Passes for a Ledger: see `open_front`."""

    def __init__(self, ledger: Ledger, server: Server, keys: Keys, news: RedisNews, *, ring: int) -> None:
        self._ledger, self._server, self._news = ledger, server, news
        self._editions, self._embeddings = Editions(server, keys, news), RedisEmbeddings(ledger, server, keys)
        self._ring = RedisRing(ledger, server, keys, self._editions, size=ring)
        sessions = RedisSessions(ledger, server, keys, self._editions)
        ours = {name: getattr(sessions, name) for name in SESSIONS}
        ours |= {name: getattr(self._embeddings, name) for name in EMBEDDINGS}
        for name in (one for one in dir(ledger) if not one.startswith("_") and not hasattr(type(self), one)):
            setattr(self, name, ours.get(name) or getattr(ledger, name))

    @property
    def generation(self) -> int:
        """It changes, so it cannot be bound."""
        generation: int = getattr(self._ledger, "generation", 0)
        return generation

    async def recent(self, scope: Scope, session: SessionId, *, limit: int) -> Sequence[Message]:
        return await self._ring.recent(scope, session, limit=limit)

    async def write(self, scope: Scope, *changes: Change) -> frozenset[MessageId]:
        if not any(change.messages for change in changes):
            known = await self._ledger.write(scope, *changes)
            await self._server.pipe(self._news.command(scope))
            return known
        async with self._editions.changing(scope):
            return await self._ledger.write(scope, *changes)

    async def write_archive(self, scope: Scope, records: Sequence[Held], *, model: str | None = None) -> Written:
        async with self._editions.changing(scope):
            return await self._ledger.write_archive(scope, records, model=model)

    async def erase(self, scope: Scope, removal: Removal, *, dry_run: bool = False) -> Erased:
        if dry_run:
            return await self._ledger.erase(scope, removal, dry_run=True)
        async with self._editions.changing(scope, rows=False):
            erased = await self._ledger.erase(scope, removal)
        await self._forgotten(scope)
        return erased

    async def erase_tenant(
        self, tenant: str, *, at: datetime, new_id: Callable[[], str], dry_run: bool = False
    ) -> Sequence[Erased]:
        erased = await self._ledger.erase_tenant(tenant, at=at, new_id=new_id, dry_run=dry_run)
        if not dry_run:
            await self._editions.end(*(one.scope for one in erased))
            await self._forgotten(*(one.scope for one in erased))
        return erased

    async def _forgotten(self, *scopes: Scope) -> None:
        await self._embeddings.forget()
        if scopes:
            await self._server.pipe(*(self._news.command(scope, forgotten=True) for scope in scopes))


class Front(NamedTuple):
    ledger: Ledger
    recent: Recent
    copies: SharedCopies


@asynccontextmanager
async def open_front(ledger: Ledger, access: Access, *, ring: int) -> AsyncIterator[Front]:
    """Yield a ledger with Redis in front of it. A server that is away is no error."""
    async with Server(access) as server, AsyncExitStack() as stack:
        keys = Keys(ledger.name)
        news = RedisNews(server, keys)
        stack.push_async_callback(news.aclose)
        front = FrontedLedger(ledger, server, keys, news, ring=ring)
        yield Front(cast(Ledger, front), front, RedisCopies(server, keys, news))
