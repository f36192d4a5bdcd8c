import asyncio
from collections.abc import AsyncIterator

import numpy as np
import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from commonplace.adapters.pgvector import PgvectorIndex, tables
from commonplace.domain.errors import IndexUnavailable, InvalidInput
from tests.contracts.vector_index import ANA, BEN, VectorIndexContract, cloud
from tests.servers import database_of, free_port, run_sql


class TestPgvectorExactly(VectorIndexContract):
    @pytest.fixture
    async def index(self, postgres_emptied: str) -> AsyncIterator[PgvectorIndex]:
        async with PgvectorIndex(postgres_emptied) as index:
            yield index


class TestPgvectorByGraph(VectorIndexContract):
    """Every collection has its own table and HNSW from its first row on."""

    @pytest.fixture
    async def index(self, postgres_emptied: str) -> AsyncIterator[PgvectorIndex]:
        async with PgvectorIndex(postgres_emptied, large=0) as index:
            yield index


async def test_a_collection_that_grows_gets_a_graph_and_keeps_its_identity(postgres_emptied: str) -> None:
    rows, size = cloud(1_500), 500
    async with PgvectorIndex(postgres_emptied, large=1_000) as index:
        await index.upsert(BEN, {1: rows[1]})
        before = await index.identity(ANA)
        for start in range(1, len(rows), size):
            await index.upsert(ANA, {n: rows[n] for n in range(start, start + size)})
        assert await index.identity(ANA) == before
        assert await index.collections() == {ANA: len(rows), BEN: 1}
        matrix = np.stack(list(rows.values()))
        kept = 0
        for n in range(1, 51):
            nearest = set((np.argsort(-(matrix @ rows[n]))[:10] + 1).tolist())
            kept += len(nearest & {near.n for near in await index.search(ANA, rows[n], limit=10, identity=before)})
        assert kept >= 490  # of 500
        assert len(await index.search(ANA, rows[1], limit=1_400)) == 1_400
        assert await index.erase(ANA) == 0
        assert await index.collections() == {BEN: 1}


async def test_vectors_too_long_for_a_graph_of_whole_numbers_get_one_of_halves(postgres_emptied: str) -> None:
    rows = cloud(40, size=3_072)
    async with PgvectorIndex(postgres_emptied, large=10) as index:
        await index.upsert(ANA, rows)
        await index.upsert(ANA, {1: rows[1]})
        assert [near.n for near in await index.search(ANA, rows[7], limit=1)] == [7]


async def test_a_server_that_is_away_is_named_without_its_password() -> None:
    url = f"postgresql://app:hush@127.0.0.1:{free_port()}/memory"
    async with PgvectorIndex(url, timeout=2) as index:
        with pytest.raises(IndexUnavailable, match=r"pgvector \(postgresql://127.0.0.1/memory\)") as away:
            await index.search(ANA, cloud(1)[1], limit=1)
    assert "hush" not in str(away.value)
    with pytest.raises(InvalidInput, match="pgvector_url"):
        PgvectorIndex("not an address")
    with pytest.raises(InvalidInput, match="pgvector_url: .* in URI") as refused:
        PgvectorIndex("postgresql://ana:hush@[::1/memory")
    assert "hush" not in str(refused.value)


async def test_a_connection_that_was_cut_is_replaced(postgres_emptied: str, postgres_url: str) -> None:
    async with PgvectorIndex(postgres_emptied) as index:
        await index.upsert(ANA, cloud(3))
        run_sql(
            postgres_url,
            "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'commonplace-index'",
        )
        assert await index.numbers(ANA) == {1, 2, 3}


async def test_a_server_that_is_gone_without_a_word_is_noticed(postgres_emptied: str) -> None:
    """By the network, which nothing here can cut: so what is asked of it is looked at."""
    index = PgvectorIndex(f"{postgres_emptied}&keepalives_idle=77")
    async with await index._connect() as connection:
        given = {one.keyword.decode(): one.val for one in connection.pgconn.info}
    assert given["keepalives_idle"] == b"77", "what the address says is kept"
    assert given["tcp_user_timeout"] == b"25000"


OLDER = """
    alter table {0} alter embedding set statistics -1;
    alter table {0} alter n set statistics -1;
    analyze {0};
"""
"""A table of a version that let the server keep statistics of everything, and what it has noted since."""


def quoted(url: str) -> set[tuple[str, str]]:
    """Return the columns of which the planner remembers values."""
    with psycopg.connect(url) as connection:
        noted = connection.execute(
            "select tablename, attname from pg_stats where tablename like 'commonplace_index%'"
            " and attname <> 'collection' and coalesce(most_common_vals, histogram_bounds) is not null"
        )
        return {(table, column) for table, column in noted.fetchall()}


@pytest.mark.parametrize("large", [0, 1_000], ids=["a table of its own", "the shared table"])
async def test_no_statistics_of_an_older_version_outlive_what_was_forgotten(postgres_database: str, large: int) -> None:
    async with PgvectorIndex(postgres_database, large=large) as index:
        await index.upsert(ANA, cloud(300))
        await index.upsert(BEN, cloud(3))
    kept = [f"commonplace_index_{number}" for number in (1, 2)] if large == 0 else ["commonplace_index_rows"]
    run_sql(postgres_database, *(OLDER.format(table) for table in kept))
    assert {column for _, column in quoted(postgres_database)} == {"embedding", "n"}

    async with PgvectorIndex(postgres_database, large=large) as index:
        await index.remove(ANA, range(1, 200))
        assert quoted(postgres_database) == set()
        run_sql(postgres_database, *(f"analyze {table}" for table in kept))
        assert quoted(postgres_database) == set()
        assert len(await index.search(ANA, cloud(300)[250], limit=5)) == 5

        run_sql(
            postgres_database, *(OLDER.format(table) for table in kept)
        )  # by a process that is still to be replaced
        await index.erase(BEN)
        assert quoted(postgres_database) == set()


async def test_an_erase_gives_way_to_who_reads_and_lets_others_search_meanwhile(
    postgres_emptied: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "PATIENCE", 0.05)
    async with PgvectorIndex(postgres_emptied, timeout=0.4) as index:
        await index.upsert(ANA, cloud(30))
        await index.upsert(BEN, cloud(3))
        async with await psycopg.AsyncConnection.connect(postgres_emptied) as reader:
            await reader.execute("select count(*) from commonplace_index_rows")
            erased = asyncio.create_task(index.erase(ANA))
            for _ in range(6):
                await asyncio.sleep(0.1)
                assert len(await index.search(BEN, cloud(3)[1], limit=3)) == 3
            assert not erased.done()
        assert await erased == 0


async def test_tables_of_another_owner_are_used_as_they_are(postgres_database: str, postgres_url: str) -> None:
    async with PgvectorIndex(postgres_database) as index:
        await index.upsert(ANA, cloud(3))
    database = conninfo_to_dict(postgres_database)["dbname"]
    both = ("commonplace_index_rows", "commonplace_index_collections")
    run_sql(
        database_of(postgres_url, str(database)),
        *(f"alter table {table} owner to postgres" for table in both),
        *(f"grant all on {table} to app" for table in both),
        "alter table commonplace_index_rows alter n set statistics -1",
    )
    async with PgvectorIndex(postgres_database) as index:
        assert await index.numbers(ANA) == {1, 2, 3}
