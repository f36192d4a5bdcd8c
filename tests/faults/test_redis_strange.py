"""What is in Redis, or comes from there, is not what we put there: the ledger answers, and nobody stops listening."""

import asyncio
import signal
from collections.abc import AsyncIterator, Callable

import pytest
from redis.asyncio import Redis

from commonplace.adapters.inmemory import InMemoryLedger
from commonplace.adapters.redis import news
from commonplace.adapters.redis.ledger import Front, open_front
from commonplace.adapters.redis.server import Access
from commonplace.domain.values import SessionId
from commonplace.ports.shared import Changed, Missed, News
from tests.contracts.ledger.values import ANA, DAY, START, added
from tests.servers import redis_running

S1 = SessionId("s1")
STRANGE = {
    "a state that is no JSON": ("session", ("HSET", "state", "{nope")),
    "a state that is no object": ("session", ("HSET", "state", "5")),
    "a moment that never is": ("session", ("HSET", "expires", str(10**30))),
    "a field that another version does not write": ("session", ("HDEL", "started")),
    "a message that is no JSON": ("ring", ("RPUSH", b"\xff\xfe")),
    "a message that lacks something": ("ring", ("RPUSH", '{"id":"m2"}')),
    "a session that nobody knows": ("active", ("ZADD", "9e15", b"\xff\xfe")),
    "a key of another type": ("session", None),
}


@pytest.fixture
async def client(redis_url: str) -> AsyncIterator[Redis]:
    async with Redis.from_url(redis_url) as client:
        yield client


async def read(front: Front) -> object:
    return (
        await front.ledger.session_state(ANA, S1, now=START),
        [one.id for one in await front.recent.recent(ANA, S1, limit=5)],
        [one.id for one in await front.ledger.active_sessions(ANA, now=START)],
    )


@pytest.mark.parametrize("case", STRANGE)
async def test_a_copy_that_cannot_be_read_is_none(case: str, redis_url: str, client: Redis) -> None:
    inner = InMemoryLedger()
    part, command = STRANGE[case]
    async with open_front(inner, Access(url=redis_url), ring=10) as front:
        await front.ledger.update_session(ANA, S1, {"a": 1}, now=START, ttl=DAY)
        await front.ledger.write(ANA, added("m1"))
        expected = await read(front)
        assert expected == ({"a": 1}, ["m1"], ["s1"])
        (key,) = await client.keys(f"commonplace:{inner.name}:*:{part}*")
        if command is None:
            await client.set(key, "x")
        else:
            name, *arguments = command
            await client.execute_command(name, key, *arguments)  # type: ignore[no-untyped-call]
        assert await read(front) == expected
        await front.ledger.touch_session(ANA, S1, now=START, ttl=DAY)


async def heard(told: list[News], wanted: Callable[[News], bool]) -> None:
    async with asyncio.timeout(20):
        while not any(map(wanted, told)):  # noqa: ASYNC110 - nobody is told
            await asyncio.sleep(0.02)


async def listening(front: Front, client: Redis) -> list[News]:
    told: list[News] = []
    front.copies.listen(told.append)
    async with asyncio.timeout(20):
        while not await client.pubsub_channels(f"{_base(front)}:news"):  # noqa: ASYNC110
            await asyncio.sleep(0.02)
    return told


def _base(front: Front) -> str:
    return f"commonplace:{front.ledger.name}"


async def test_strange_news_do_not_end_the_listening(redis_url: str, client: Redis) -> None:
    inner, access = InMemoryLedger(), Access(url=redis_url)
    async with open_front(inner, access, ring=10) as front, open_front(inner, access, ring=10) as other:
        told = await listening(front, client)
        for strange in (b"5", b"null", b"[1]", b"\xff", b'{"a":1}', b'["x",1,2,3]', b'["x","t",[1],true]', b"[" * 9999):
            await client.publish(f"{_base(front)}:news", strange)
        await other.ledger.write(ANA, added("m1"))
        await heard(told, lambda one: one == Changed(ANA))
        assert told == [Changed(ANA)]


async def test_a_connection_that_was_lost_and_made_again_is_told(redis_url: str, client: Redis) -> None:
    """The client library makes a new one by itself. What was told in between, nobody heard."""
    async with open_front(InMemoryLedger(), Access(url=redis_url), ring=10) as front:
        told = await listening(front, client)
        await client.execute_command("CLIENT", "KILL", "TYPE", "pubsub")  # type: ignore[no-untyped-call]
        await heard(told, lambda one: one == Missed())


async def test_a_connection_that_nobody_answers_on_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(news, "PATIENCE", 0.2)
    with redis_running() as (url, process):
        async with Redis.from_url(url) as client, open_front(InMemoryLedger(), Access(url=url), ring=10) as front:
            told = await listening(front, client)
            await asyncio.sleep(1)  # pings are answered
            assert told == []
            process.send_signal(signal.SIGSTOP)
            await asyncio.sleep(1)
            process.send_signal(signal.SIGCONT)
            await heard(told, lambda one: one == Missed())
