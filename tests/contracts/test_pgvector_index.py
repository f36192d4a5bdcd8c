from collections.abc import AsyncIterator

import numpy as np
import pytest

from commonplace.adapters.pgvector import PgvectorIndex
from commonplace.domain.errors import IndexUnavailable, InvalidInput
from tests.contracts.vector_index import ANA, BEN, VectorIndexContract, cloud
from tests.servers import free_port, run_sql


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


async def test_a_connection_that_was_cut_is_replaced(postgres_emptied: str, postgres_url: str) -> None:
    async with PgvectorIndex(postgres_emptied) as index:
        await index.upsert(ANA, cloud(3))
        run_sql(
            postgres_url,
            "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'commonplace-index'",
        )
        assert await index.numbers(ANA) == {1, 2, 3}
