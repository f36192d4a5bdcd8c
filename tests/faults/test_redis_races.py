"""Those who read while something is forgotten, and servers with no room: what may be put into Redis, and what not."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime

import numpy as np
import pytest
from redis.asyncio import Redis

from commonplace.adapters.inmemory import InMemoryLedger
from commonplace.adapters.redis.coding import packed_message
from commonplace.adapters.redis.ledger import Front, open_front
from commonplace.adapters.redis.server import FULL, Access
from commonplace.domain.receipts import Part
from commonplace.domain.scope import Scope
from commonplace.domain.values import Json, MessageId, SessionId, SessionInfo
from commonplace.memory import AsyncMemory
from commonplace.ports.erasure import Removal
from commonplace.ports.ledger import MessagePage, MessageQuery
from commonplace.stopping import stop
from tests.contracts.ledger.values import ANA, BEN, DAY, START, added
from tests.servers import redis_running

S1 = SessionId("s1")


class Held(InMemoryLedger):
    """Who has read something is held up before getting it: the first one, once that is wanted."""

    def __init__(self) -> None:
        super().__init__()
        self.holding = False
        self.may_go, self.reading = asyncio.Event(), asyncio.Event()

    async def _held(self) -> None:
        if self.holding:
            self.holding = False
            self.reading.set()
            await self.may_go.wait()

    async def session_state(self, scope: Scope, session: SessionId, *, now: datetime) -> Mapping[str, Json]:
        found = await super().session_state(scope, session, now=now)
        await self._held()
        return found

    async def active_sessions(self, scope: Scope, *, now: datetime) -> Sequence[SessionInfo]:
        found = await super().active_sessions(scope, now=now)
        await self._held()
        return found

    async def messages(self, scope: Scope, query: MessageQuery) -> MessagePage:
        found = await super().messages(scope, query)
        await self._held()
        return found

    async def cached_embeddings(self, identity: str, digests: Sequence[bytes]) -> Mapping[bytes, bytes]:
        found = await super().cached_embeddings(identity, digests)
        await self._held()
        return found


READERS: Mapping[str, Callable[[Front], Awaitable[object]]] = {
    "state": lambda front: front.ledger.session_state(ANA, S1, now=START),
    "active": lambda front: front.ledger.active_sessions(ANA, now=START),
    "ring": lambda front: front.recent.recent(ANA, S1, limit=5),
    "vectors": lambda front: front.ledger.cached_embeddings("model", [b"digest"]),
}


@pytest.fixture
async def client(redis_url: str) -> AsyncIterator[Redis]:
    async with Redis.from_url(redis_url) as client:
        yield client


@pytest.mark.parametrize("reader", READERS)
async def test_a_reader_puts_nothing_back_that_was_forgotten_while_it_read(
    reader: str, redis_url: str, client: Redis
) -> None:
    inner = Held()
    async with open_front(inner, Access(url=redis_url), ring=10) as front:
        await front.ledger.update_session(ANA, S1, {"a": 1}, now=START, ttl=DAY)
        await front.ledger.write(ANA, added("m1"))
        await inner.cache_embeddings("model", {b"digest": np.ones(4, np.float32)}, now=START)
        inner.holding = True
        reading = asyncio.ensure_future(READERS[reader](front))
        await inner.reading.wait()
        await front.ledger.erase(ANA, Removal(id="e1", what=Part(), at=START))
        assert await front.copies.erase([ANA], [MessageId("m1")]) == 0
        inner.may_go.set()
        assert await reading
        left = [key async for key in client.scan_iter(f"commonplace:{inner.name}:*")]
        assert [key for key in left if not key.endswith((b":edition", b":token"))] == []


async def test_a_full_server_is_given_nothing_more() -> None:
    with redis_running() as (url, _):
        async with Redis.from_url(url) as client, open_front(InMemoryLedger(), Access(url=url), ring=10) as front:
            await front.ledger.write(ANA, added("m1"))
            await front.recent.recent(BEN, S1, limit=5)  # there is an edition, so that only copies would be new
            await client.delete(*await client.keys("*:ring:*"))
            await client.config_set("maxmemory", "1")
            assert await front.recent.recent(BEN, S1, limit=5) == []
            assert await client.keys("*:ring:*") == []
            assert await front.copies.state() == FULL


async def test_a_ring_of_many_thousands_is_kept_whole(redis_url: str) -> None:
    """More than a script passes on at once."""
    async with open_front(InMemoryLedger(), Access(url=redis_url, timeout=5), ring=9_000) as front:
        await front.ledger.write(ANA, added(*(f"m{n}" for n in range(9_100))))
        read = await front.recent.recent(ANA, S1, limit=9_000)
        assert len(read) == 9_000
        before = front.copies.figures()["hits"]
        assert await front.recent.recent(ANA, S1, limit=9_000) == read
        assert front.copies.figures()["hits"] == before + 1


@asynccontextmanager
async def all_the_while(work: Callable[[], Awaitable[object]]) -> AsyncIterator[None]:
    """Do something again and again."""

    async def going_on() -> None:
        while True:
            await work()

    task = asyncio.create_task(going_on())
    try:
        yield
    finally:
        await stop(task)


MANY = "for n = 1, 100000 do redis.call('set', 'another:' .. n, n) end"
"""Keys of others: it takes a while to look through them."""


async def test_a_conversation_may_go_on_while_another_one_is_forgotten() -> None:
    """What is read again meanwhile is no trace: neither a short id that is part of a number, nor the same greeting."""
    hello = "Hello! How can I help you today?"
    with redis_running() as (url, _):
        async with Redis.from_url(url) as client, AsyncMemory.ephemeral(redis_url=url) as memory:
            await client.eval(MANY, 0)
            for id_, session in (("1", "s1"), ("2", "s2")):
                said = {"id": id_, "role": "assistant", "content": hello}
                await memory.add([said], user="ana", session=session, learn=False)
            async with all_the_while(memory.session("s2", user="ana").recent):
                receipt = await memory.forget(user="ana", session="s1")
            assert "redis" in receipt.verified
            assert [one.id for one in await memory.session("s2", user="ana").recent()] == ["2"]


async def test_a_message_that_is_still_there_is_found() -> None:
    with redis_running() as (url, _):
        async with Redis.from_url(url) as client, open_front(InMemoryLedger(), Access(url=url), ring=10) as front:
            await client.eval(MANY, 0)
            await front.ledger.write(ANA, added("m1"))
            (message,) = await front.recent.recent(ANA, S1, limit=1)
            (key,) = await client.keys("*:ring:*")
            again = "redis.call('del', KEYS[1]) return redis.call('rpush', KEYS[1], ARGV[1])"
            async with all_the_while(lambda: client.eval(again, 1, key, packed_message(message))):
                assert await front.copies.erase([ANA], [MessageId("m1")]) == 1
