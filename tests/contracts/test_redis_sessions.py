"""A ledger with Redis in front of it keeps the promises of the ledger: with the server there, away, and full."""

from collections.abc import AsyncIterator

import pytest

from commonplace.adapters.inmemory import InMemoryLedger
from commonplace.adapters.redis.ledger import fronted
from commonplace.adapters.redis.server import Access, Server
from commonplace.adapters.sqlite import SqliteLedger
from commonplace.ports.ledger import Ledger
from tests.contracts.ledger.archive import ArchiveContract
from tests.contracts.ledger.embeddings import EmbeddingCacheContract
from tests.contracts.ledger.erasure import ErasureContract
from tests.contracts.ledger.isolation import IsolationContract
from tests.contracts.ledger.sessions import SessionsContract
from tests.servers import free_port, redis_running, redis_url

__all__ = ["redis_url"]


class TestRedisBeforeMemory(
    SessionsContract, EmbeddingCacheContract, ErasureContract, ArchiveContract, IsolationContract
):
    @pytest.fixture
    async def ledger(self, redis_url: str) -> AsyncIterator[Ledger]:
        async with Server(Access(url=redis_url)) as server:
            yield fronted(InMemoryLedger(), server, ring=100)
            assert server.failures == 0

    @pytest.fixture
    async def ledger_that_keeps_3_embeddings(self, redis_url: str) -> AsyncIterator[Ledger]:
        async with Server(Access(url=redis_url)) as server:
            yield fronted(InMemoryLedger(embeddings_kept=3), server, ring=100)


class TestRedisBeforeSqlite(SessionsContract):
    @pytest.fixture
    async def ledger(self, redis_url: str) -> AsyncIterator[Ledger]:
        async with Server(Access(url=redis_url)) as server, SqliteLedger(None) as ledger:
            yield fronted(ledger, server, ring=100)
            assert server.failures == 0


class TestRedisThatIsAway(SessionsContract):
    @pytest.fixture
    async def ledger(self) -> AsyncIterator[Ledger]:
        async with Server(Access(url=f"redis://127.0.0.1:{free_port()}/0")) as server:
            yield fronted(InMemoryLedger(), server, ring=100)
            assert server.failures


class TestRedisThatIsFull(SessionsContract):
    @pytest.fixture
    async def ledger(self) -> AsyncIterator[Ledger]:
        with redis_running("--maxmemory", "1", "--maxmemory-policy", "noeviction") as (url, _):
            async with Server(Access(url=url)) as server:
                yield fronted(InMemoryLedger(), server, ring=100)
                assert server.problem is not None and "full" in server.problem
