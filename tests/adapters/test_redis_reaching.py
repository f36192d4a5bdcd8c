"""How Redis is reached: TLS with an authority of one's own, a user with few rights, and addresses that are wrong."""

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from redis.asyncio import Redis

from commonplace.adapters.inmemory import InMemoryLedger
from commonplace.adapters.redis.ledger import open_front
from commonplace.adapters.redis.server import Access
from commonplace.domain.errors import InvalidInput
from commonplace.domain.scope import Scope
from commonplace.domain.values import SessionId
from tests.contracts.ledger.values import ANA, DAY, START
from tests.servers import redis_running, redis_url

__all__ = ["redis_url"]

S1 = SessionId("s1")
DOCS = Path(__file__).parents[2] / "docs" / "redis.md"


def certified(folder: Path) -> Path:
    """Write a certificate for 127.0.0.1 that vouches for itself, with its key."""
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "test")])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    (folder / "key.pem").write_bytes(secret)
    (folder / "ca.pem").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    return folder / "ca.pem"


@contextlib.asynccontextmanager
async def behind_tls(folder: Path, port: int) -> AsyncIterator[int]:
    """Stand before a server that speaks no TLS, and speak it for it."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "ca.pem", folder / "key.pem")

    async def passed(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(65_536):
                writer.write(data)
                await writer.drain()
        writer.close()

    async def met(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        behind, before = await asyncio.open_connection("127.0.0.1", port)
        await asyncio.gather(passed(reader, before), passed(behind, writer))

    server = await asyncio.start_server(met, "127.0.0.1", 0, ssl=context)
    async with server:
        yield server.sockets[0].getsockname()[1]


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
            assert await f.copies.erase([ANA, Scope("acme", "x")], ["word"]) == 0
            assert await f.copies.inspect() == ()
            f.copies.listen(lambda news: None)
            await asyncio.sleep(0.1)
        assert await works(Access(url=url, username="commonplace", password="wrong")) == "not used"


def test_a_wrong_address_is_refused_without_its_password() -> None:
    with pytest.raises(InvalidInput, match="expected redis://, rediss:// or unix://") as refused:
        Access(url="http://:hush@host")
    assert "hush" not in str(refused.value)
    with pytest.raises(InvalidInput, match="rediss:// address only"):
        Access(url="redis://host", ca_file=Path("ca.pem"))
    with pytest.raises(InvalidInput, match="a file that is there"):
        Access(url="rediss://host", ca_file=Path("/nowhere/ca.pem"))
    assert "hush" not in repr(Access(url="redis://:hush@host", password="hush"))
