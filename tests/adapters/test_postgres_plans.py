"""How many rows the server looks at: as the ordinary role that is held back by row-level security, and with neighbours.

An index that a superuser's statement goes by may be closed to everybody else's: what it is asked must not leak a row.
"""

from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from commonplace.adapters.postgres import PostgresLedger, archive_reading, erasure, facts, feed, full_text, jobs, models
from commonplace.adapters.postgres.columns import Connection
from commonplace.domain.receipts import Part
from commonplace.domain.scope import Scope
from commonplace.domain.values import FactId
from commonplace.ports.erasure import Removal
from commonplace.ports.ledger import Change, NewMessage, NewVersion
from tests.contracts.ledger.full_text import entry, unpack
from tests.contracts.ledger.values import ANA, BEN, OTHER_ANA, a_fact, a_message, later
from tests.servers import database_of, empty, run_sql

pytestmark = pytest.mark.anyio

MANY = 1_000
EVERYWHERE = MANY + 1
"""A word that every row has; the others have one of their own each."""

_QUEUE = f"""
    insert into jobs (id, tenant, "user", kind, payload, epoch, attempts, run_at, due, status, error)
    select 'j' || n, 'acme', 'u' || n % 100, 'learn', '{{}}', 0, 0, n, n, 'queued', ''
    from generate_series(1, {20 * MANY}) n
"""
"""Jobs of a hundred users: so many that it is worth the while to go by an index."""


def told(start: int) -> Change:
    numbers = range(start, start + 100)
    return Change(
        messages=[NewMessage(message=a_message(f"m{n}"), entries=(entry(n, EVERYWHERE),)) for n in numbers],
        versions=[
            NewVersion(fact=a_fact(f"f{n}", f"uses {n}", attribute=f"uses {n}"), entry=entry(n, EVERYWHERE))
            for n in numbers
        ],
    )


@pytest.fixture(scope="module")
async def ledger(postgres_shared: str) -> AsyncIterator[PostgresLedger]:
    """Three users with many messages and facts each."""
    empty(postgres_shared)
    url = database_of(postgres_shared, "shared", user="app")
    async with PostgresLedger(url, unpack=unpack) as ledger:
        for scope in (BEN, ANA, OTHER_ANA):
            for start in range(0, MANY, 100):
                await ledger.write(scope, told(start))
            await ledger.build_full_text(scope)
        run_sql(postgres_shared, _QUEUE, "vacuum analyze")
        yield ledger


async def looked_at(
    ledger: PostgresLedger, table: str, work: Callable[[Connection, Scope], Awaitable[object]]
) -> tuple[int, object]:
    """Return how many rows of a table it took, and what came of it. It is undone."""

    async def so_far(connection: Connection) -> int:
        rows = await connection.execute(
            "select seq_tup_read + coalesce(idx_tup_fetch, 0) from pg_stat_xact_user_tables"
            " where schemaname = current_schema() and relname = %s",
            (table,),
        )
        ((count,),) = await rows.fetchall()
        return int(count)

    async def counted(connection: Connection) -> tuple[int, object]:
        await connection.execute("set local max_parallel_workers_per_gather = 0")  # who would count for themselves
        before = await so_far(connection)
        result = await work(connection, ANA)
        return await so_far(connection) - before, result

    return await ledger._tried(counted, tenant=ANA.tenant)


async def test_a_search_by_words_looks_at_what_has_one_of_them(ledger: PostgresLedger) -> None:
    async def search(connection: Connection, scope: Scope) -> object:
        return await full_text.matching(connection, scope, [7, 8], limit=10)

    count, found = await looked_at(ledger, "full_text", search)
    assert isinstance(found, list)
    assert len(found) == 4
    assert count <= 8  # once to count them, once to order them


async def test_a_word_that_all_have_is_counted_for_one_user_alone(ledger: PostgresLedger) -> None:
    async def count_them(connection: Connection, scope: Scope) -> object:
        return await full_text.holding(connection, scope, [EVERYWHERE])

    count, found = await looked_at(ledger, "full_text", count_them)
    assert (count, found) == (2 * MANY, {EVERYWHERE: 2 * MANY})


async def test_a_fact_is_looked_for_by_what_it_says_and_what_it_is_about(ledger: PostgresLedger) -> None:
    async def saying(connection: Connection, scope: Scope) -> object:
        return [fact.id for fact in await facts.saying(connection, scope, "uses 7")]

    async def about(connection: Connection, scope: Scope) -> object:
        found = await facts.believed(connection, scope, attributes=[("user", "uses 7"), ("user", "uses 8")])
        return [fact.id for fact in found]

    assert await looked_at(ledger, "facts", saying) == (1, ["f7"])
    assert await looked_at(ledger, "facts", about) == (2, ["f7", "f8"])


async def test_the_next_slab_does_not_take_a_look_at_all_the_rows_behind_it(ledger: PostgresLedger) -> None:
    async def slab(connection: Connection, scope: Scope) -> object:
        return len((await feed.slab(connection, scope, after=20, limit=10, vectors=False)).messages)

    async def lacking(connection: Connection, scope: Scope) -> object:
        return len((await models.lacking(connection, scope, after=20, limit=10, aside=False)).messages)

    for work in (slab, lacking):
        count, found = await looked_at(ledger, "passages", work)
        assert found == 10
        assert count <= 20


async def test_an_archive_is_read_at_the_same_pace_to_its_end(
    ledger: PostgresLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def read(connection: Connection, scope: Scope) -> object:
        return sum([len(batch) async for batch in archive_reading.records(connection, scope, passages=True)])

    monkeypatch.setattr(archive_reading, "SLAB", 20)
    count, found = await looked_at(ledger, "messages", read)
    assert found == 2 * MANY + 3
    assert count <= 10 * MANY


async def test_many_facts_are_forgotten_with_one_look_at_the_others(ledger: PostgresLedger) -> None:
    many = [FactId(f"f{n}") for n in range(100)]

    async def forget(connection: Connection, scope: Scope) -> object:
        removal = Removal(id="e1", what=Part(fact=many[0]), at=later(100), facts=many, stripped=[FactId("f200")])
        return (await erasure.erase(connection, scope, removal)).counts["facts"]

    count, found = await looked_at(ledger, "facts", forget)
    assert found == 100
    assert count <= 6 * MANY  # in a table this small, those of other users, too


async def test_the_next_jobs_are_taken_without_a_look_at_all_that_wait(ledger: PostgresLedger) -> None:
    async def claim(connection: Connection, _: Scope) -> object:
        taken = await jobs.claim(
            connection, kinds=["learn"], now=later(0), lease=60, limit=4, tenant=None, in_turn=True
        )
        return [job.id for job in taken]

    count, found = await looked_at(ledger, "jobs", claim)
    assert found == ["j1", "j2", "j3", "j4"]
    assert count <= 50
