"""milvus-lite, run as a server: it speaks the protocol of Milvus, and is asked by the same client."""

from collections.abc import AsyncIterator

import numpy as np
import pytest
from pymilvus import MilvusClient

from commonplace.adapters.milvus import MilvusIndex
from commonplace.adapters.milvus.store import OPTIONS
from tests.contracts.vector_index import ANA, VectorIndexContract, cloud, found


@pytest.fixture
async def index(milvus_url: str) -> AsyncIterator[MilvusIndex]:
    async with MilvusIndex(milvus_url) as index:
        yield index


class TestMilvus(VectorIndexContract):
    """What was written lately is searched row by row."""


async def test_once_there_is_a_graph_many_equal_rows_do_not_hide_the_others(
    index: MilvusIndex, milvus_url: str
) -> None:
    others = cloud(1_000)
    mixed = [*others.items(), *dict.fromkeys(range(2_000, 3_500), others[1]).items()]
    order = np.random.default_rng(5).permutation(len(mixed))
    await index.upsert(ANA, dict(mixed[at] for at in order))
    name, client = (await index.identity(ANA)).removeprefix("milvus:"), MilvusClient(milvus_url, grpc_options=OPTIONS)
    client.flush(name)
    assert client.describe_index(name, "vector")["indexed_rows"] == len(mixed)
    client.close()
    lost = [n for n in range(2, 1_001, 2) if await found(index, ANA, others[n], limit=1) != [n]]
    assert len(lost) <= 5
