"""What is forgotten is gone from Redis, too, and the receipt says whether somebody looked."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from redis.asyncio import Redis

from commonplace.adapters.hashing import HashEmbedder
from commonplace.memory import AsyncMemory, Opening
from tests.backends import Backend
from tests.servers import free_port, redis_running

pytestmark = pytest.mark.backends("ledgers")


@pytest.fixture
def place(backend: Backend, tmp_path: Path) -> dict[str, Any]:
    return backend.at(tmp_path / "home")


def opened(place: dict[str, Any], url: str) -> Opening:
    return AsyncMemory.open(**{**place, "redis_url": url}, embedder=HashEmbedder())


@pytest.fixture
async def client(redis_url: str) -> AsyncIterator[Redis]:
    async with Redis.from_url(redis_url) as client:
        yield client


async def held(client: Redis) -> bytes:
    """Everything that is in the server, as bytes."""
    found: list[bytes | str | None] = []
    async for key in client.scan_iter("*"):
        kind = await client.type(key)
        if kind == b"hash":
            found += await client.hvals(key)
        elif kind == b"list":
            found += await client.lrange(key, 0, -1)
        elif kind == b"string":
            found.append(await client.get(key))
    return b"\0".join(one for one in found if isinstance(one, bytes))


async def used(memory: AsyncMemory) -> None:
    await memory.add("The password of my diary is Xylographer", user="u1", session="s1")
    await memory.add("My sister is called Quenby", user="u1", session="s2")
    await memory.session("s1", user="u1").update(topic="Kvetching")
    for session in ("s1", "s2"):
        await memory.session(session, user="u1").get()
        assert await memory.session(session, user="u1").recent(5)
    await memory.sessions(user="u1")


async def test_forgetting_a_user_leaves_nothing_in_redis(place: dict[str, Any], redis_url: str, client: Redis) -> None:
    async with opened(place, redis_url) as memory:
        await used(memory)
        before = await held(client)
        assert all(word in before for word in (b"Xylographer", b"Quenby", b"Kvetching"))
        receipt = await memory.forget(user="u1")
        assert "redis" in receipt.verified
        after = await held(client)
        assert not any(word in after for word in (b"Xylographer", b"Quenby", b"Kvetching"))
        assert await memory.sessions(user="u1") == []
        assert await memory.session("s1", user="u1").get() == {}


async def test_forgetting_a_session_leaves_the_other_one(place: dict[str, Any], redis_url: str, client: Redis) -> None:
    async with opened(place, redis_url) as memory:
        await used(memory)
        receipt = await memory.forget(user="u1", session="s1")
        assert "redis" in receipt.verified
        assert [one.text for one in await memory.session("s2", user="u1").recent(5)] == ["My sister is called Quenby"]
        assert await memory.session("s1", user="u1").recent(5) == ()
        after = await held(client)
        assert b"Quenby" in after
        assert b"Xylographer" not in after and b"Kvetching" not in after


async def test_a_forget_without_redis_says_that_nobody_looked_there(place: dict[str, Any]) -> None:
    async with opened(place, f"redis://127.0.0.1:{free_port()}") as memory:
        await used(memory)
        receipt = await memory.forget(user="u1")
        assert "redis" not in receipt.verified
        assert any("redis could not be reached" in note for note in receipt.notes)
        assert await memory.sessions(user="u1") == []


async def test_what_was_forgotten_elsewhere_goes_from_the_ram_of_this_process(
    place: dict[str, Any], redis_url: str
) -> None:
    async with opened(place, redis_url) as here, opened(place, redis_url) as there:
        await here.add("I play the theremin", user="u1")
        assert await there.recall("theremin", user="u1")
        before = (await there.stats()).cache["bytes"]
        assert before > 0
        await here.forget(user="u1")
        async with asyncio.timeout(20):
            while (await there.stats()).cache["bytes"] >= before:  # noqa: ASYNC110  # nobody asks for this user again
                await asyncio.sleep(0.02)
        assert await there.recall("theremin", user="u1") == []


async def test_what_changed_elsewhere_is_in_ram_before_it_is_asked_for(place: dict[str, Any], redis_url: str) -> None:
    async with opened(place, redis_url) as here, opened(place, redis_url) as there:
        await here.add("I play the theremin", user="u1", learn=False)
        assert await there.recall("theremin", user="u1")
        before = (await there.stats()).cache["bytes"]
        for n in range(40):
            await here.add(f"I play the theremin on day {n}", user="u1", learn=False)
        async with asyncio.timeout(20):
            while (await there.stats()).cache["bytes"] <= before:  # noqa: ASYNC110
                await asyncio.sleep(0.02)


async def test_the_doctor_says_how_redis_is(place: dict[str, Any]) -> None:
    with redis_running() as (url, _):
        async with opened(place, url) as memory:
            checkup = await memory.doctor()
            assert "redis" in checkup.checks and checkup.healthy
            assert (await memory.stats()).copies["up"] == 1
            async with Redis.from_url(url) as client:
                await client.config_set("save", "900 1")
                assert [one.severity for one in (await memory.doctor()).findings if one.check == "redis"] == ["note"]
                await client.config_set("maxmemory", "1")
                (full,) = [one for one in (await memory.doctor()).findings if one.check == "redis"]
                assert "full" in full.message
    async with opened(place, url) as memory:
        (away,) = [one for one in (await memory.doctor()).findings if one.check == "redis"]
        assert away.severity == "warning" and "does not answer" in away.message
        assert (await memory.stats()).copies["up"] == 0
