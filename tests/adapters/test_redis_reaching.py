"""How Redis is reached: TLS with an authority of one's own, a user with few rights, and addresses that are wrong."""

import asyncio
from pathlib import Path

import pytest
from redis.asyncio import Redis

from commonplace.adapters.inmemory import InMemoryLedger
from commonplace.adapters.redis.ledger import open_front
from commonplace.adapters.redis.server import Access, Server, pool
from commonplace.domain.errors import InvalidInput
from commonplace.domain.scope import Scope
from commonplace.domain.values import MessageId, SessionId
from tests.contracts.ledger.values import ANA, DAY, START
from tests.servers import free_port, redis_running
from tests.tls import behind_tls, certified

S1 = SessionId("s1")
DOCS = Path(__file__).parents[2] / "docs" / "redis.md"


async def works(access: Access) -> str:
    async with open_front(InMemoryLedger(), access, ring=10) as front:
        await front.ledger.update_session(ANA, S1, {"a": 1}, now=START, ttl=DAY)
        for _ in range(2):
            assert await front.ledger.session_state(ANA, S1, now=START) == {"a": 1}
        return await front.copies.state() if front.copies.figures()["hits"] else "not used"


async def test_tls_with_an_authority_of_ones_own(tmp_path: Path, redis_url: str) -> None:
    ca = certified(tmp_path)
    plain = int(redis_url.rpartition(":")[2].partition("/")[0])
    async with behind_tls(tmp_path, plain) as port:
        url = f"rediss://127.0.0.1:{port}/0"
        assert await works(Access(url=url, ca_file=ca, timeout=5)) == "ok"
        assert await works(Access(url=url, timeout=5)) == "not used"  # nobody vouches for it


async def test_the_rights_that_the_docs_ask_for_are_enough() -> None:
    (line,) = [line for line in DOCS.read_text().splitlines() if "ACL SETUSER" in line]
    command = line.partition("`")[2].partition("`")[0].split()
    with redis_running() as (url, _):
        async with Redis.from_url(url) as client:
            await client.execute_command(*command)  # type: ignore[no-untyped-call]
        assert await works(Access(url=url, username="commonplace", password="secret")) == "ok"
        assert await works(Access(url=url.replace("//", "//commonplace:secret@"))) == "ok"
        async with open_front(
            InMemoryLedger(), Access(url=url, username="commonplace", password="secret"), ring=9
        ) as f:
            assert await f.copies.erase([ANA, Scope("acme", "x")], [MessageId("m1")]) == 0
            assert await f.copies.inspect() == ()
            f.copies.listen(lambda news: None)
            await asyncio.sleep(0.1)
        assert await works(Access(url=url, username="commonplace", password="wrong")) == "not used"


async def test_what_is_wrong_is_told_without_what_was_said(tmp_path: Path) -> None:
    with redis_running() as (url, _):
        plain = int(url.rpartition(":")[2].partition("/")[0])
        certified(tmp_path)
        async with behind_tls(tmp_path, plain) as port:
            assert await problem(f"rediss://127.0.0.1:{port}/0") == "ConnectionError (SSLCertVerificationError)"
        assert await problem(f"redis://127.0.0.1:{free_port()}/0") == "ConnectionError (ConnectionRefusedError)"
        async with Redis.from_url(url) as client:
            await client.config_set("min-replicas-to-write", 1)
            assert await problem(url) == "ResponseError NOREPLICAS"


async def problem(url: str) -> str | None:
    async with Server(Access(url=url, timeout=5)) as server:
        await server.pipe(("SET", "HUSH", "HUSH caused error: HUSH"))
        return server.problem


def test_a_wrong_address_is_refused_without_its_password() -> None:
    with pytest.raises(InvalidInput, match="expected redis://, rediss:// or unix://") as refused:
        Access(url="http://:hush@host")
    assert "hush" not in str(refused.value)
    with pytest.raises(InvalidInput, match="expected redis://, rediss:// or unix://") as refused:
        Access(url="ana:hush@host")
    assert "hush" not in str(refused.value)
    for url in ("redis://:hush/hush@host", "redis://:hush[hush@host", "redis://:1?hush=1@host"):
        with pytest.raises(InvalidInput, match=r"redis_url: .*%2F.*%3F") as refused:
            pool(Access(url=url))
        assert "hush" not in str(refused.value)
    with pytest.raises(InvalidInput, match="redis_url: decode_responses: expected no word"):
        Access(url="redis://:hush@host/0?decode_responses=True")
    with pytest.raises(InvalidInput, match="rediss:// address only"):
        Access(url="redis://host", ca_file=Path("ca.pem"))
    with pytest.raises(InvalidInput, match="a file that is there"):
        Access(url="rediss://host", ca_file=Path("/nowhere/ca.pem"))
    assert "hush" not in repr(Access(url="redis://:hush@host", password="hush"))
