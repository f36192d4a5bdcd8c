"""Transactions on a server that goes away in the middle of them."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from urllib.parse import parse_qs, urlsplit

import pytest

from commonplace.adapters.postgres import PostgresLedger
from commonplace.adapters.postgres.columns import Connection
from commonplace.adapters.postgres.connections import Connections
from commonplace.adapters.postgres.database import Database
from commonplace.adapters.postgres.lanes import WHOSE, Lanes
from commonplace.domain.errors import LedgerUnavailable
from commonplace.domain.receipts import Part
from commonplace.domain.values import MessageId
from commonplace.ports.erasure import Removal
from commonplace.ports.ledger import Change
from tests.contracts.ledger.values import ANA, added, later, new_message
from tests.servers import run_sql

pytestmark = pytest.mark.anyio

HANG_UP = "select pg_terminate_backend(pg_backend_pid())"
NOTE = "insert into turns values (%s, 0)"


@asynccontextmanager
async def lanes_of(url: str) -> AsyncIterator[Lanes]:
    database = Database(url=url, pool_size=2, statement_timeout=10, patience=10)
    async with database.pool() as pool:
        connections = Connections(pool)
        yield Lanes(connections, database)
        await connections.aclose()


async def noted(connection: Connection) -> list[str]:
    rows = await connection.execute("select chore from turns order by chore")
    return [chore for (chore,) in await rows.fetchall()]


def failing_once(statement: str) -> Callable[[Connection], Awaitable[int]]:
    """Return work that notes its attempt, and runs a statement that breaks the first one."""
    attempts = iter(range(10))

    async def work(connection: Connection) -> int:
        attempt = next(attempts)
        await connection.execute(NOTE, (f"attempt {attempt}",))
        if attempt == 0:
            await connection.execute(statement)
        return attempt

    return work


async def test_a_read_is_repeated_when_its_connection_is_lost(postgres_emptied: str) -> None:
    attempts = iter([True, False])

    async def read(connection: Connection) -> list[str]:
        if next(attempts):
            await connection.execute(HANG_UP)
        return await noted(connection)

    async with lanes_of(postgres_emptied) as lanes:
        assert await lanes.read(read, tenant=None) == []


@pytest.mark.parametrize(
    "broken", [HANG_UP, "do $$ begin raise exception using errcode = '40001'; end $$"], ids=["hung up", "undone"]
)
async def test_a_write_that_was_not_committed_is_repeated(postgres_emptied: str, broken: str) -> None:
    async with lanes_of(postgres_emptied) as lanes:
        assert await lanes.write(failing_once(broken), tenant=None) == 1
        assert await lanes.read(noted, tenant=None) == ["attempt 1"]


async def test_a_write_that_failed_while_it_was_committed_is_repeated(postgres_emptied: str) -> None:
    run_sql(
        postgres_emptied,
        f"create or replace function hang_up() returns trigger language plpgsql as $$ begin perform 1 from ({HANG_UP})"
        " h where new.chore = 'attempt 0'; return null; end $$",
        "create constraint trigger hanging_up after insert on turns deferrable initially deferred for each row"
        " execute function hang_up()",
    )
    try:
        async with lanes_of(postgres_emptied) as lanes:
            assert await lanes.write(failing_once("select 1"), tenant=None) == 1
            assert await lanes.read(noted, tenant=None) == ["attempt 1"]
    finally:
        run_sql(postgres_emptied, "drop trigger hanging_up on turns")


async def test_a_write_that_was_committed_unheard_is_not_repeated(postgres_emptied: str) -> None:
    async with cutting_after(postgres_emptied, b"attempt 0", b"COMMIT") as url, lanes_of(url) as lanes:
        assert await lanes.write(failing_once("select 1"), tenant=None) == 0
        assert await lanes.read(noted, tenant=None) == ["attempt 0"]


async def test_a_message_that_was_kept_unheard_is_kept_once_and_was_not_there_before(postgres_emptied: str) -> None:
    async with PostgresLedger(postgres_emptied) as ledger:
        await ledger.write(ANA, added("m1"))
        async with cutting_after(postgres_emptied, b"update partitions", b"m2") as url, PostgresLedger(url) as cut:
            assert await cut.write(ANA, added("m1")) == {"m1"}
            assert await cut.write(ANA, added("m2")) == frozenset()
            assert await cut.write(ANA, added("m2")) == {"m2"}
        assert await ledger.versions(ANA) == (await ledger.feed(ANA)).versions
        assert (await ledger.versions(ANA)).version == 2


@pytest.mark.parametrize("answered", [False, True])
async def test_what_a_pooler_says_of_a_server_that_is_gone_is_a_lost_connection(
    postgres_emptied: str, answered: bool
) -> None:
    """With the answer to a COMMIT in front of it, the driver takes it for one answer too many."""
    gone = b"SFATAL\0C08P01\0Mserver conn crashed?\0\0"
    gone = b"E" + (len(gone) + 4).to_bytes(4, "big") + gone
    said = (b"attempt 0", b"COMMIT")
    async with cutting_after(postgres_emptied, *said, last=gone, answered=answered) as url, lanes_of(url) as lanes:
        assert await lanes.write(failing_once("select 1"), tenant=None) == 0
        assert await lanes.read(noted, tenant=None) == ["attempt 0"]


async def test_connections_that_the_server_ended_because_nobody_used_them_are_replaced(postgres_emptied: str) -> None:
    async with PostgresLedger(f"{postgres_emptied}&options=-cidle_session_timeout%3D200") as ledger:
        await ledger.write(ANA, added("m1"))
        await asyncio.sleep(0.5)
        assert (await ledger.versions(ANA)).rows == 1
        await asyncio.sleep(0.5)
        assert set(await ledger.messages_by_id(ANA, [MessageId("m1")])) == {"m1"}
        await asyncio.sleep(0.5)
        assert await ledger.write(ANA, added("m2")) == frozenset()


async def test_work_that_paused_for_too_long_is_done_again(postgres_emptied: str) -> None:
    """As by a process that was stopped for a while."""
    work = failing_once("select 1")

    async def pausing(connection: Connection) -> int:
        attempt = await work(connection)
        await asyncio.sleep(0.5 if attempt == 0 else 0)
        return attempt

    async with lanes_of(f"{postgres_emptied}&options=-cidle_in_transaction_session_timeout%3D200") as lanes:
        assert await lanes.write(pausing, tenant=None) == 1
        assert await lanes.read(noted, tenant=None) == ["attempt 1"]


async def test_a_transaction_that_takes_too_long_is_given_up(postgres_emptied: str) -> None:
    async def sleep(connection: Connection) -> None:
        await connection.execute("set local transaction_timeout = 100")
        await connection.execute("select pg_sleep(60)")

    async with PostgresLedger(postgres_emptied) as ledger:
        with pytest.raises(LedgerUnavailable, match="transaction timeout"):
            await ledger._read(sleep, tenant=None)
        assert (await ledger.versions(ANA)).rows == 0


async def test_an_archive_can_be_read_slowly(postgres_emptied: str) -> None:
    async with PostgresLedger(f"{postgres_emptied}&options=-cidle_in_transaction_session_timeout%3D200") as ledger:
        await ledger.write(ANA, added("m1"))
        read = 0
        async for batch in ledger.read_archive(ANA):
            read += len(batch)
            await asyncio.sleep(0.5 if read == 1 else 0)
        assert read == 4


@asynccontextmanager
async def cutting_after(url: str, *said: bytes, last: bytes = b"", answered: bool = False) -> AsyncIterator[str]:
    """Stand between client and server, and hang up on the client instead of telling it the answer to what it said.

    The `last` that it hears may be something else, alone or behind the answer.
    """
    parts = urlsplit(url)
    (folder,) = parse_qs(parts.query)["host"]
    cut = asyncio.Event()
    copying: list[asyncio.Task[None]] = []
    writers: list[asyncio.StreamWriter] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        from_server, to_server = await asyncio.open_unix_connection(f"{folder}/.s.PGSQL.5432")
        seen = bytearray()

        async def copy(source: asyncio.StreamReader, target: asyncio.StreamWriter, *, to_client: bool) -> None:
            while data := await source.read(65536):
                seen.extend(b"" if to_client else data)
                if to_client and all(one in seen for one in said) and not cut.is_set():
                    cut.set()
                    target.write((data[:-6] if answered else b"") + last)  # without "ready for the next"
                    break
                target.write(data)
                await target.drain()
            target.close()

        writers.extend((writer, to_server))
        copying.append(asyncio.ensure_future(copy(reader, to_server, to_client=False)))
        copying.append(asyncio.ensure_future(copy(from_server, writer, to_client=True)))

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server:
        yield f"postgresql://app@127.0.0.1:{port}{parts.path}?sslmode=disable&gssencmode=disable"
        assert cut.is_set()
    for writer in writers:
        writer.close()
    await asyncio.gather(*copying, *(writer.wait_closed() for writer in writers), return_exceptions=True)


async def test_a_single_statement_goes_by_keys_even_if_tables_were_empty_when_it_was_planned(
    postgres_emptied: str,
) -> None:
    planned = "select current_setting('enable_seqscan'), current_setting('plan_cache_mode')"

    async def asked(connection: Connection) -> object:
        return await (await connection.execute(planned)).fetchone()

    async with lanes_of(postgres_emptied) as lanes:
        assert await lanes.ask(f"{planned}, {WHOSE}", (), tenant="ours") == ("off", "force_generic_plan")
        assert await lanes.read(asked, tenant="ours") == ("on", "auto")
        assert await lanes.run_alone(asked) == ("on", "auto")


async def test_connections_that_died_in_the_pool_are_replaced(postgres_emptied: str, postgres_url: str) -> None:
    async with PostgresLedger(postgres_emptied) as ledger:
        await asyncio.gather(*(ledger.write(ANA, added(f"m{n}")) for n in range(5)))
        run_sql(
            postgres_url,
            "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'commonplace'",
        )
        assert (await ledger.versions(ANA)).rows == 5
        await ledger.write(ANA, added("m5"))
        assert (await ledger.versions(ANA)).rows == 6


async def test_a_statement_that_takes_too_long_is_given_up(postgres_emptied: str) -> None:
    async def sleep(connection: Connection) -> None:
        await connection.execute("select pg_sleep(60)")

    async with PostgresLedger(postgres_emptied, statement_timeout=0.1) as ledger:
        with pytest.raises(LedgerUnavailable, match=r"no answer within 0\.1 s"):
            await ledger._read(sleep, tenant=None)


async def test_a_forget_may_take_as_long_as_it_takes(postgres_emptied: str) -> None:
    run_sql(
        postgres_emptied,
        "create or replace function slowly() returns trigger language plpgsql as"
        " $$ begin perform pg_sleep(0.3); return old; end $$",
        "create trigger slowly before delete on messages for each row execute function slowly()",
    )
    try:
        async with PostgresLedger(postgres_emptied, statement_timeout=0.2) as ledger:
            await ledger.write(ANA, added("m1"))
            erased = await ledger.erase(ANA, Removal(id="e1", what=Part(), at=later(1)))
            assert erased.counts["messages"] == 1
    finally:
        run_sql(postgres_emptied, "drop trigger slowly on messages")


async def test_more_calls_than_connections_wait_for_one(postgres_emptied: str) -> None:
    async with PostgresLedger(postgres_emptied, pool_size=1) as ledger:
        await asyncio.gather(*(ledger.write(ANA, added(f"m{n}")) for n in range(10)))
        assert (await ledger.versions(ANA)).version == 10


async def test_writers_of_one_user_come_one_after_the_other(postgres_emptied: str) -> None:
    async with PostgresLedger(postgres_emptied) as one, PostgresLedger(postgres_emptied) as other:
        ledgers = [one, other] * 10
        known = await asyncio.gather(
            *(ledger.write(ANA, Change(messages=[new_message(f"m{n // 2}")])) for n, ledger in enumerate(ledgers))
        )
        assert sorted(id_ for ids in known for id_ in ids) == sorted(MessageId(f"m{n}") for n in range(10))
        feed = await one.feed(ANA)
        assert (feed.versions.version, len({row.n for row in feed.messages})) == (10, 10)
