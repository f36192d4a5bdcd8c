"""A ledger with Redis in front of it keeps the promises of the ledger: with the server there, away, and full."""

from collections.abc import AsyncIterator
from dataclasses import fields, replace

import pytest

from commonplace.adapters.inmemory import InMemoryLedger
from commonplace.adapters.redis.ledger import open_front
from commonplace.adapters.redis.server import Access
from commonplace.adapters.sqlite import SqliteLedger
from commonplace.domain.values import Message
from commonplace.ports.ledger import Change, Ledger, NewMessage
from tests.contracts.ledger.archive import ArchiveContract
from tests.contracts.ledger.attachments import NOTE, PHOTO
from tests.contracts.ledger.embeddings import EmbeddingCacheContract
from tests.contracts.ledger.erasure import ErasureContract
from tests.contracts.ledger.isolation import IsolationContract
from tests.contracts.ledger.sessions import SessionsContract
from tests.contracts.ledger.values import ANA, a_message, a_vector, an_entry, later
from tests.servers import free_port, redis_running


class TestRedisBeforeMemory(
    SessionsContract, EmbeddingCacheContract, ErasureContract, ArchiveContract, IsolationContract
):
    @pytest.fixture
    async def ledger(self, redis_url: str) -> AsyncIterator[Ledger]:
        async with open_front(InMemoryLedger(), Access(url=redis_url), ring=100) as front:
            yield front.ledger
            assert front.copies.figures()["failures"] == 0

    @pytest.fixture
    async def ledger_that_keeps_3_embeddings(self, redis_url: str) -> AsyncIterator[Ledger]:
        async with open_front(InMemoryLedger(embeddings_kept=3), Access(url=redis_url), ring=100) as front:
            yield front.ledger

    async def test_the_oldest_go_when_it_is_full(self, ledger_that_keeps_3_embeddings: Ledger) -> None:
        """Not here: Redis keeps each for its time, and has a limit of its own."""
        ledger = ledger_that_keeps_3_embeddings
        for n in range(5):
            await ledger.cache_embeddings("model", {b"%d" % n: a_vector(n)}, now=later(n))
        assert {b"2", b"3", b"4"} <= set(await ledger.cached_embeddings("model", [b"%d" % n for n in range(5)]))


class TestRedisBeforeSqlite(SessionsContract):
    @pytest.fixture
    async def ledger(self, redis_url: str) -> AsyncIterator[Ledger]:
        async with SqliteLedger(None) as ledger, open_front(ledger, Access(url=redis_url), ring=100) as front:
            yield front.ledger
            assert front.copies.figures()["failures"] == 0


class TestRedisThatIsAway(SessionsContract):
    @pytest.fixture
    async def ledger(self) -> AsyncIterator[Ledger]:
        access = Access(url=f"redis://127.0.0.1:{free_port()}/0")
        async with open_front(InMemoryLedger(), access, ring=100) as front:
            yield front.ledger
            assert front.copies.figures()["failures"]


class TestRedisThatIsFull(SessionsContract):
    @pytest.fixture
    async def ledger(self) -> AsyncIterator[Ledger]:
        with redis_running("--maxmemory", "1", "--maxmemory-policy", "noeviction") as (url, _):
            async with open_front(InMemoryLedger(), Access(url=url), ring=100) as front:
                yield front.ledger
                assert "full" in await front.copies.state()


async def test_a_copy_of_a_message_has_all_that_the_message_has(redis_url: str) -> None:
    said = replace(
        a_message("m\ud800", "I use \0 Shram", metadata={"a": [1, {"b": None}]}),
        name="Ana",
        agent="helper",
        expires_at=later(1_000),
        attachments=(NOTE, PHOTO),
    )
    assert said.session is not None
    assert all(getattr(said, one.name) for one in fields(Message)), "what it has nothing of is not tested"
    async with open_front(InMemoryLedger(), Access(url=redis_url), ring=10) as front:
        await front.ledger.write(ANA, Change(messages=[NewMessage(message=said, entries=(an_entry(),))]))
        for _ in range(2):
            assert list(await front.recent.recent(ANA, said.session, limit=5)) == [said]
        assert front.copies.figures()["hits"] == 1
