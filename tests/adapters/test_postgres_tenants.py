"""The second wall: a statement that does not ask whose rows it reads still gets nobody else's."""

from collections.abc import AsyncIterator

import psycopg
import pytest

from commonplace.adapters.postgres import PostgresLedger
from commonplace.adapters.postgres.columns import Connection
from commonplace.domain.errors import LedgerUnavailable
from commonplace.domain.scope import Scope
from commonplace.domain.values import MessageId
from tests.contracts.ledger.jobs import a_job
from tests.contracts.ledger.values import added, learned
from tests.servers import database_of

pytestmark = pytest.mark.anyio

OURS, THEIRS = Scope("ours", "ana"), Scope("theirs", "ana")
_OWNED = """
    select c.relname, c.relrowsecurity and c.relforcerowsecurity
    from pg_class c join pg_attribute a on a.attrelid = c.oid
    where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace and a.attname = 'tenant'
"""


@pytest.fixture
async def ledger(postgres_emptied: str) -> AsyncIterator[PostgresLedger]:
    async with PostgresLedger(postgres_emptied) as ledger:
        for scope in (OURS, THEIRS):
            await ledger.write(scope, learned())
            await ledger.enqueue(a_job(f"job of {scope.tenant}", scope=scope))
        yield ledger


async def tables(connection: Connection) -> list[str]:
    rows = await (await connection.execute(_OWNED)).fetchall()
    assert all(walled for _, walled in rows)
    return sorted(table for table, _ in rows)


async def tenants_seen(connection: Connection) -> set[str]:
    seen: set[str] = set()
    for table in await tables(connection):
        rows = await connection.execute(f"select distinct tenant from {table}")
        seen |= {tenant for (tenant,) in await rows.fetchall()}
    return seen


async def test_a_careless_read_sees_one_tenant(ledger: PostgresLedger) -> None:
    assert await ledger._read(tenants_seen, tenant="ours") == {"ours"}
    assert await ledger._read(tenants_seen, tenant="nobody's") == set()
    assert await ledger._read(tenants_seen, tenant=None) == {"ours", "theirs"}


async def test_a_careless_write_changes_one_tenant(ledger: PostgresLedger) -> None:
    async def careless(connection: Connection) -> int:
        return (await connection.execute("update facts set text = 'changed'")).rowcount

    async def texts(connection: Connection) -> set[tuple[str, ...]]:
        return set(await (await connection.execute("select tenant from facts where text = 'changed'")).fetchall())

    assert await ledger._write(careless, tenant="ours") == 1
    assert await ledger._read(texts, tenant=None) == {("ours",)}


@pytest.mark.parametrize(
    "hostile",
    [
        "insert into jobs select no + 1000, id || '!', 'theirs', \"user\", kind, payload, epoch, attempts, run_at, due,"
        " status, error from jobs",
        "update facts set tenant = 'theirs'",
        "insert into removals (row, changed, tenant) values (1, 1, 'theirs')",
    ],
)
async def test_nothing_can_be_put_into_another_tenant(ledger: PostgresLedger, hostile: str) -> None:
    async def attack(connection: Connection) -> None:
        await connection.execute(hostile)

    with pytest.raises(LedgerUnavailable, match="row-level security"):
        await ledger._write(attack, tenant="ours")


async def test_who_does_not_say_whose_it_is_sees_nothing(ledger: PostgresLedger, postgres_emptied: str) -> None:
    async with await ledger._database.connect() as connection:
        assert await tenants_seen(connection) == set()


async def test_a_connection_that_became_another_tenants_is_noticed(postgres_emptied: str) -> None:
    """A pooler between may hand out the connection of somebody else."""
    async with PostgresLedger(postgres_emptied, pool_size=1) as ledger:
        for scope in (OURS, THEIRS):
            await ledger.write(scope, added("m1"))
        await ledger.write(OURS, added("m2"))

        async def turn(connection: Connection) -> None:
            await connection.execute("select set_config('commonplace.tenant', 'theirs', false)")

        await ledger._write(turn, tenant=None)
        assert (await ledger.versions(OURS)).rows == 2
        assert set((await ledger.shown(OURS, [MessageId("m1"), MessageId("m2")])).messages) == {"m1", "m2"}
        await ledger.write(OURS, added("m3"))
        assert [(await ledger.versions(scope)).rows for scope in (OURS, THEIRS)] == [3, 1]
        assert (await ledger.check()) == []


async def test_all_of_it_is_there(ledger: PostgresLedger, postgres_url: str) -> None:
    with psycopg.connect(database_of(postgres_url, "shared")) as superuser:
        assert superuser.execute("select count(distinct tenant) from messages").fetchone() == (2,)


async def test_a_role_that_no_wall_holds_back_is_told(postgres_emptied: str, postgres_shared: str) -> None:
    async with PostgresLedger(postgres_emptied) as ordinary, PostgresLedger(postgres_shared) as superuser:
        assert await ordinary.check() == []
        (finding,) = await superuser.check()
        assert (finding.check, finding.severity) == ("permissions", "note")
        assert "the role postgres is not held back by row-level security" in finding.message
