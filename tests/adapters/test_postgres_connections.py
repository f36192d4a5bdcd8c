"""Which connection of the pool a call gets."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import psycopg
import pytest
from psycopg.pq import TransactionStatus

from commonplace.adapters.postgres import PostgresLedger, connections
from commonplace.adapters.postgres.columns import Connection
from commonplace.adapters.postgres.connections import Connections
from commonplace.adapters.postgres.database import Database
from commonplace.ports.ledger import Change
from tests.contracts.ledger.values import ANA, new_message

pytestmark = pytest.mark.anyio

OPEN = (
    "select count(*) from pg_stat_activity"
    " where application_name = 'commonplace' and datname = current_database() and pid <> pg_backend_pid()"
)


@asynccontextmanager
async def connections_of(url: str, *, pool_size: int) -> AsyncIterator[Connections]:
    database = Database(url=url, pool_size=pool_size, statement_timeout=10, patience=10)
    async with database.pool() as pool:
        made = Connections(pool)
        yield made
        await made.aclose()


async def use(made: Connections) -> int:
    """Return the number of the server's process behind a connection that is taken and given back."""
    connection = await made.take()
    try:
        return connection.info.backend_pid
    finally:
        await made.give_back(connection)


def open_connections(url: str) -> int:
    with psycopg.connect(url) as connection:
        row = connection.execute(OPEN).fetchone()
    assert row is not None
    return int(row[0])


async def hold_all(made: Connections, count: int) -> list[Connection]:
    return [await made.take() for _ in range(count)]


async def test_the_connection_that_was_used_last_is_used_next(postgres_emptied: str) -> None:
    async with connections_of(postgres_emptied, pool_size=3) as made:
        for connection in await hold_all(made, 3):
            await made.give_back(connection)
        await use(made)  # the first one goes back to the pool: nobody knows how old it is
        assert len({await use(made) for _ in range(6)}) == 1


async def test_now_and_then_it_is_another_ones_turn(postgres_emptied: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "HELD", -1.0)
    async with connections_of(postgres_emptied, pool_size=3) as made:
        for connection in await hold_all(made, 3):
            await made.give_back(connection)
        assert len({await use(made) for _ in range(6)}) == 3


async def test_who_waits_gets_what_is_given_back(postgres_emptied: str) -> None:
    async with connections_of(postgres_emptied, pool_size=1) as made:
        held = await made.take()
        waiting = [asyncio.create_task(use(made)) for _ in range(5)]
        await asyncio.sleep(0)
        await made.give_back(held)
        assert set(await asyncio.gather(*waiting)) == {held.info.backend_pid}


async def test_transactions_and_single_statements_share_one_connection(postgres_emptied: str) -> None:
    async with PostgresLedger(postgres_emptied, pool_size=1, patience=10) as ledger:
        await ledger.write(ANA, Change(messages=[new_message("m0")]))
        writes = [ledger.write(ANA, Change(messages=[new_message(f"m{n}")])) for n in range(1, 20)]
        await asyncio.gather(*writes, *[ledger.epoch(ANA) for _ in range(20)])
        assert (await ledger.versions(ANA)).rows == 20


async def test_one_that_was_left_in_a_transaction_is_not_kept_at_hand(postgres_emptied: str) -> None:
    async with connections_of(postgres_emptied, pool_size=1) as made:
        await use(made)
        connection = await made.take()
        await connection.execute("begin")
        await made.give_back(connection)
        clean = await made.take()
        assert clean.info.transaction_status == TransactionStatus.IDLE
        await made.give_back(clean)


async def test_a_closed_ledger_leaves_no_connection_behind(postgres_emptied: str) -> None:
    async with PostgresLedger(postgres_emptied) as ledger:
        for n in range(3):
            await ledger.write(ANA, Change(messages=[new_message(f"m{n}")]))
        assert open_connections(postgres_emptied) > 0
    for _ in range(100):  # the server takes its time to notice
        if open_connections(postgres_emptied) == 0:
            return
        await asyncio.sleep(0.05)
    pytest.fail("a connection is still open")
