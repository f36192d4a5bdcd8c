"""Redis stopped, emptied, slow, or started again with an old dump: everything goes on, and nothing old is believed."""

import asyncio
import signal
from collections.abc import AsyncIterator, Mapping
from datetime import datetime
from pathlib import Path

import pytest
from redis.asyncio import Redis

from commonplace.adapters.inmemory import InMemoryLedger
from commonplace.adapters.redis.ledger import Front, open_front
from commonplace.adapters.redis.server import SHORTEST_REST, Access, Server
from commonplace.domain.scope import Scope
from commonplace.domain.states import Expected, State
from commonplace.domain.values import Json, SessionId, SessionInfo
from commonplace.ports.ledger import Ledger
from tests.backends import Backend
from tests.contracts.ledger.values import ANA, BEN, DAY, START, added, later
from tests.servers import free_port, redis_running

pytestmark = pytest.mark.backends("ledgers")

S1 = SessionId("s1")


@pytest.fixture
async def inner(backend: Backend, tmp_path: Path) -> AsyncIterator[Ledger]:
    """The ledger behind the copies."""
    async with backend.open_ledger(tmp_path / "memory") as ledger:
        yield ledger


@pytest.fixture
async def client(redis_url: str) -> AsyncIterator[Redis]:
    async with Redis.from_url(redis_url) as client:
        yield client


async def test_what_was_emptied_is_read_again_from_the_ledger(inner: Ledger, redis_url: str, client: Redis) -> None:
    async with open_front(inner, Access(url=redis_url), ring=100) as front:
        ledger = front.ledger
        await ledger.update_session(ANA, S1, {"a": 1}, now=START, ttl=DAY)
        assert await ledger.session_state(ANA, S1, now=START) == {"a": 1}
        await client.flushall()
        assert await ledger.session_state(ANA, S1, now=START) == {"a": 1}
        assert [info.id for info in await ledger.active_sessions(ANA, now=START)] == ["s1"]


async def test_a_state_that_was_used_lives_on_when_redis_is_emptied(
    inner: Ledger, redis_url: str, client: Redis
) -> None:
    """Uses that were noted in Redis alone must not have been what kept it alive."""
    async with open_front(inner, Access(url=redis_url), ring=100) as front:
        ledger = front.ledger
        await ledger.update_session(ANA, S1, {"a": 1}, now=START, ttl=100)
        for second in range(1, 90):
            await ledger.session_state(ANA, S1, now=later(second))
            info = await ledger.touch_session(ANA, S1, now=later(second), ttl=100)
            assert info.expires_at == later(second + 100)
            await client.flushall() if second % 7 == 0 else None
            promised = await inner.session_info(ANA, S1)
            assert promised is not None
            assert later(second + 100) <= promised.expires_at <= later(second + 105)
        await client.flushall()
        assert await ledger.session_state(ANA, S1, now=later(188)) == {"a": 1}
        assert await ledger.session_state(ANA, S1, now=later(195)) == {}


async def test_uses_close_together_are_one_write_to_the_ledger(redis_url: str) -> None:
    class Counting(InMemoryLedger):
        touches = 0

        async def touch_session(self, scope: Scope, session: SessionId, *, now: datetime, ttl: float) -> SessionInfo:
            self.touches += 1
            return await super().touch_session(scope, session, now=now, ttl=ttl)

    inner = Counting()
    async with open_front(inner, Access(url=redis_url), ring=100) as front:
        ledger = front.ledger
        await ledger.update_session(ANA, S1, {"a": 1}, now=START, ttl=DAY)
        for use in range(50):
            assert await ledger.session_state(ANA, S1, now=later(use)) == {"a": 1}
            await ledger.touch_session(ANA, S1, now=later(use), ttl=DAY)
    assert inner.touches <= 3


async def test_calls_go_on_while_redis_is_stopped_and_it_is_used_again_when_it_is_back(inner: Ledger) -> None:
    port = free_port()
    async with open_front(inner, Access(url=f"redis://127.0.0.1:{port}/0"), ring=100) as front:
        ledger = front.ledger
        with redis_running(port=port):
            await ledger.update_session(ANA, S1, {"a": 1}, now=START, ttl=DAY)
            assert await ledger.session_state(ANA, S1, now=START) == {"a": 1}
        await ledger.update_session(ANA, S1, {"a": 2}, now=START, ttl=DAY)
        assert await ledger.session_state(ANA, S1, now=START) == {"a": 2}
        assert await front.copies.state() != "ok"
        with redis_running(port=port):
            await _until_it_is_back(front)
            await ledger.session_state(ANA, S1, now=START)
            before = front.copies.figures()["hits"]
            assert await ledger.session_state(ANA, S1, now=START) == {"a": 2}
            assert front.copies.figures()["hits"] == before + 1


async def test_a_dump_of_an_earlier_life_is_not_believed(inner: Ledger, tmp_path: Path) -> None:
    port = free_port()
    files = ("--dir", str(tmp_path), "--save", "900", "1")
    async with open_front(inner, Access(url=f"redis://127.0.0.1:{port}/0"), ring=100) as front:
        ledger = front.ledger
        with redis_running(*files, port=port) as (url, _):
            await ledger.update_session(ANA, S1, {"a": "old"}, now=START, ttl=DAY)
            await ledger.session_state(ANA, S1, now=START)
            async with Redis.from_url(url) as client:
                await client.save()
        await inner.update_session(ANA, S1, {"a": "new"}, now=START, ttl=DAY)  # by a process that knows of no Redis
        with redis_running(*files, port=port) as (url, _):
            async with Redis.from_url(url) as client:
                assert await client.keys("*:session:*")  # it is back, and within its time
            await _until_it_is_back(front)
            assert await ledger.session_state(ANA, S1, now=START) == {"a": "new"}


async def test_a_server_that_hangs_holds_nobody_up_for_long(inner: Ledger) -> None:
    with redis_running() as (url, process):
        async with open_front(inner, Access(url=url, timeout=0.1), ring=100) as front:
            ledger = front.ledger
            await ledger.update_session(ANA, S1, {"a": 1}, now=START, ttl=DAY)
            process.send_signal(signal.SIGSTOP)
            try:
                for value in range(200):
                    await ledger.update_session(ANA, S1, {"a": value}, now=START, ttl=DAY)
                    assert await ledger.session_state(ANA, S1, now=START) == {"a": value}
                assert front.copies.figures()["skipped"] > 350  # most calls did not even ask
            finally:
                process.send_signal(signal.SIGCONT)
            await _until_it_is_back(front)
            assert await ledger.session_state(ANA, S1, now=START) == {"a": 199}


async def test_what_another_process_wrote_is_read_at_once(inner: Ledger, redis_url: str) -> None:
    access = Access(url=redis_url)
    async with open_front(inner, access, ring=3) as (first, ring, _), open_front(inner, access, ring=3) as (second, *_):
        for turn in range(20):
            await first.update_session(ANA, S1, {"turn": turn}, now=START, ttl=DAY)
            assert await second.session_state(ANA, S1, now=START) == {"turn": turn}
            await second.write(ANA, added(f"m{turn}", at=turn))
            assert [one.id for one in await ring.recent(ANA, S1, limit=3)] == [
                f"m{n}" for n in range(max(turn - 2, 0), turn + 1)
            ]
            assert await first.session_state(ANA, S1, now=START) == {"turn": turn}
        await second.end_session(ANA, S1, now=later(1))
        assert await first.session_state(ANA, S1, now=later(2)) == {}


async def test_readers_and_writers_in_any_order_leave_no_old_copy(redis_url: str) -> None:
    class Slow(InMemoryLedger):
        """Every call gives way, so that others come in between."""

        async def session_state(self, scope: Scope, session: SessionId, *, now: datetime) -> Mapping[str, Json]:
            found = await super().session_state(scope, session, now=now)
            await asyncio.sleep(0.001)
            return found

        async def update_session(
            self,
            scope: Scope,
            session: SessionId,
            values: State,
            *,
            now: datetime,
            ttl: float,
            expected: Expected = None,
        ) -> State:
            await asyncio.sleep(0.0005)
            found = await super().update_session(scope, session, values, now=now, ttl=ttl, expected=expected)
            await asyncio.sleep(0.0005)
            return found

    inner = Slow()
    access = Access(url=redis_url)
    async with open_front(inner, access, ring=3) as one, open_front(inner, access, ring=3) as two:
        fronts = [one.ledger, two.ledger]
        for round_ in range(15):
            tasks = [_write(fronts[n % 2], n) if n % 3 == 0 else _read(fronts[n % 2]) for n in range(24)]
            await asyncio.gather(*tasks)
            true = await inner.session_state(ANA, S1, now=START)
            for front in fronts:
                assert await front.session_state(ANA, S1, now=START) == true, round_


async def test_one_user_is_never_shown_another_users_copy(inner: Ledger, redis_url: str) -> None:
    async with open_front(inner, Access(url=redis_url), ring=100) as front:
        ledger = front.ledger
        await ledger.update_session(ANA, S1, {"secret": 1}, now=START, ttl=DAY)
        assert await ledger.session_state(ANA, S1, now=START) == {"secret": 1}
        for other in (BEN, Scope("acme", None), Scope("other", "ana"), Scope("acme:ana", None), Scope("acme", '"ana"')):
            assert await ledger.session_state(other, S1, now=START) == {}
            assert await ledger.active_sessions(other, now=START) == []


async def _write(ledger: Ledger, value: int) -> None:
    await ledger.update_session(ANA, S1, {"a": value}, now=START, ttl=DAY)


async def _read(ledger: Ledger) -> None:
    await ledger.session_state(ANA, S1, now=START)


async def _until_it_is_back(front: Front) -> None:
    async with asyncio.timeout(30):
        while await front.copies.state() != "ok":  # noqa: ASYNC110  # a server tells nobody that it is back
            await asyncio.sleep(SHORTEST_REST)


async def test_what_could_not_be_ended_is_ended_as_soon_as_redis_can_be_reached_again(tmp_path: Path) -> None:
    """Others use it until then, and the process that owes it may have nothing more to ask."""
    inner, door, hidden = InMemoryLedger(), tmp_path / "redis.sock", tmp_path / "hidden.sock"
    with redis_running("--unixsocket", str(door)) as (url, _):
        through_the_door = open_front(inner, Access(url=f"unix://{door}"), ring=3)
        async with through_the_door as (one, *_), open_front(inner, Access(url=url), ring=3) as (two, *_):
            await one.update_session(ANA, S1, {"a": 1}, now=START, ttl=DAY)
            assert await two.session_state(ANA, S1, now=START) == {"a": 1}
            door.rename(hidden)
            async with Redis.from_url(url) as client:
                await client.execute_command("CLIENT", "KILL", "TYPE", "normal")  # type: ignore[no-untyped-call]
            await one.update_session(ANA, S1, {"a": 2}, now=START, ttl=DAY)
            hidden.rename(door)
            async with asyncio.timeout(20):
                while await two.session_state(ANA, S1, now=START) != {"a": 2}:  # noqa: ASYNC110
                    await asyncio.sleep(0.02)


async def test_what_is_owed_while_something_else_is_paid_is_paid_too(redis_url: str, client: Redis) -> None:
    async with Server(Access(url=redis_url, timeout=10)) as server:
        await server.pipe(("MSET", "one", 1, "two", 1))
        server.owe("one")
        await client.execute_command("CLIENT", "PAUSE", 200)  # type: ignore[no-untyped-call]
        paying = asyncio.create_task(server.pipe(("PING",)))
        await asyncio.sleep(0.05)
        server.owe("two")
        await paying
        assert await server.pipe(("EXISTS", "one", "two")) == [0]


async def test_a_server_that_was_started_again_is_told_of_the_next_write_already(inner: Ledger) -> None:
    """A process that has just failed to reach it leaves it alone for a moment, while another one may use it again."""
    port = free_port()
    access = Access(url=f"redis://127.0.0.1:{port}/0")
    async with open_front(inner, access, ring=3) as (one, *_), open_front(inner, access, ring=3) as (two, *_):
        for value in range(50):
            await one.update_session(ANA, S1, {"a": value}, now=START, ttl=DAY)
            await one.session_state(ANA, S1, now=START)
        with redis_running(port=port):
            assert await two.session_state(ANA, S1, now=START) == {"a": 49}
            await one.update_session(ANA, S1, {"a": 50}, now=START, ttl=DAY)
            assert await two.session_state(ANA, S1, now=START) == {"a": 50}
