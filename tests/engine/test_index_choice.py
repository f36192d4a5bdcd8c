"""Whatever index is chosen, beside whatever ledger: the same answers, and a forget that reaches it."""

import asyncio
from pathlib import Path

import numpy as np
import pytest

from commonplace.adapters.chroma.index import ChromaIndex, Server
from commonplace.adapters.hashing import HashEmbedder
from commonplace.adapters.pgvector import PgvectorIndex
from commonplace.domain.errors import InvalidInput
from commonplace.memory import AsyncMemory, Opening
from tests.servers import free_port

SAID = ["I live in Porto", "My sister plays the cello", "I am allergic to peanuts", "We sail on Sundays"]


def opened(place: Path | str, **settings: object) -> Opening:
    return AsyncMemory.open(place, embedder=HashEmbedder(), **settings)  # type: ignore[arg-type]


async def story(memory: AsyncMemory, name: str) -> None:
    for n, text in enumerate(SAID):
        await memory.add({"id": f"m{n}", "content": text}, user="u1", learn=False)
    await memory.add("I am allergic to peanuts", user="u2", learn=False)
    await memory.reindex()
    found = await memory.recall("allergic to peanuts", user="u1", explain=True)
    assert found[0].id == "m2"
    stats = await memory.stats()
    assert {part.answered_by for part in stats.partitions} == {name}
    assert sum(stats.collections.values()) == len(SAID) + 1


async def forgotten(memory: AsyncMemory) -> None:
    receipt = await memory.forget(user="u1")
    assert "index" in receipt.verified
    assert sum((await memory.stats()).collections.values()) == 1
    assert await memory.recall("allergic to peanuts", user="u1") == []


async def test_pgvector_beside_sqlite(tmp_path: Path, postgres_emptied: str) -> None:
    async with opened(tmp_path / "home", index="pgvector", pgvector_url=postgres_emptied) as memory:
        await story(memory, "pgvector")
        assert (await memory.doctor()).healthy
        await forgotten(memory)


async def test_pgvector_beside_postgresql_takes_the_ledgers_database(postgres_database: str) -> None:
    async with opened(postgres_database, index="pgvector") as memory:
        await story(memory, "pgvector")
        assert (await memory.doctor()).healthy
        await forgotten(memory)


async def test_milvus_beside_sqlite(tmp_path: Path, milvus_url: str) -> None:
    async with opened(tmp_path / "home", index="milvus", milvus_url=milvus_url) as memory:
        await story(memory, "milvus")
        assert (await memory.doctor()).healthy
        await forgotten(memory)


async def test_pgvector_beyond_what_is_searched_exactly(tmp_path: Path, postgres_emptied: str) -> None:
    settings = {"index_beyond": "pgvector", "exact_up_to": 2, "pgvector_url": postgres_emptied}
    async with opened(tmp_path / "home", **settings) as memory:
        for text in SAID:
            await memory.add(text, user="large", learn=False)
        await memory.add(SAID[0], user="small", learn=False)
        await memory.reindex()
        by = {part.user: part.answered_by for part in (await memory.stats()).partitions}
        assert by == {"large": "pgvector", "small": "exact"}
        assert (await memory.recall("who plays the cello", user="large"))[0].text == SAID[1]


async def test_what_is_forgotten_goes_from_an_index_that_was_used_before(tmp_path: Path, postgres_emptied: str) -> None:
    async with opened(tmp_path / "home", index="chroma") as memory:
        await memory.add(SAID[0], user="u1", learn=False)
        await memory.reindex()
        assert sum((await memory.stats()).collections.values()) == 1
    async with opened(tmp_path / "home", index="pgvector", pgvector_url=postgres_emptied) as memory:
        assert "index" in (await memory.forget(user="u1")).verified
    async with opened(tmp_path / "home", index="chroma") as memory:
        await memory.add(SAID[0], user="u2", learn=False)
        await memory.reindex()
        assert sum((await memory.stats()).collections.values()) == 1


@pytest.mark.parametrize(("ledger", "by"), [("sqlite", "doctor"), ("postgres", "reindex")])
async def test_who_was_forgotten_while_another_index_was_used_goes_when_that_is_back(
    tmp_path: Path, postgres_emptied: str, postgres_database: str, ledger: str, by: str
) -> None:
    place = tmp_path / "home" if ledger == "sqlite" else postgres_database
    on_a_server = {"index": "pgvector", "pgvector_url": postgres_emptied}
    async with opened(place, tenant="another", **on_a_server) as another:
        await another.add(SAID[2], user="u1", learn=False)
        await another.reindex()
    async with opened(place, **on_a_server) as memory, PgvectorIndex(postgres_emptied) as index:
        await index.upsert("cp-anothers-1", {1: np.ones(3, np.float32)})
        await memory.add(SAID[0], user="u1", learn=False)
        await memory.add(SAID[1], user="u2", learn=False)
        await memory.reindex()
        assert sum((await index.collections()).values()) == 4
    async with opened(place, index="exact") as memory:
        assert "index" not in (await memory.forget(user="u1")).verified
    async with opened(place, **on_a_server) as memory, PgvectorIndex(postgres_emptied) as index:
        if by == "doctor":
            (finding,) = (await memory.doctor()).findings
            assert (finding.check, finding.repaired) == ("index", False)
            assert "1 users who are no more" in finding.message
            assert sum((await index.collections()).values()) == 4
            (mended,) = (await memory.doctor(repair=True)).findings
            assert mended.repaired
        else:
            await memory.reindex()
        assert (await memory.doctor()).healthy
        assert sorted((await index.collections()).values()) == [1, 1, 1]
        assert await index.numbers("cp-anothers-1") == {1}
        assert (await memory.recall("who plays the cello", user="u2"))[0].text == SAID[1]


async def test_a_repair_mends_a_collection_that_takes_no_rows(tmp_path: Path, chroma_url: str) -> None:
    """Somebody made one by hand, for vectors of another size."""
    place = {"index": "chroma", "chroma_url": chroma_url, "chroma_collection": "mended"}
    async with opened(tmp_path / "home", **place) as memory:
        await memory.add(SAID[1], user="u1", learn=False)
        await memory.reindex()
        async with ChromaIndex(Server(chroma_url), prefix="mended") as by_hand:
            (name,) = (await memory.stats()).collections
            await by_hand.drop(name)
            await by_hand.upsert(name, {1: np.ones(3, np.float32)})
        await memory.add(SAID[0], user="u1", learn=False)
        for _ in range(200):
            if findings := (await memory.doctor()).findings:
                break
            await asyncio.sleep(0.05)
        assert "is not indexed" in findings[0].message
        (mended,) = (await memory.doctor(repair=True)).findings
        assert mended.repaired
        assert (await memory.doctor()).healthy
        assert (await memory.stats()).collections[name] == 2


async def test_an_index_that_is_away_is_a_note_and_exact_search_answers(tmp_path: Path) -> None:
    away = "postgresql://app@127.0.0.1:9/nothing"
    async with opened(tmp_path / "home", index="pgvector", pgvector_url=away) as memory:
        await memory.add(SAID[2], user="u1", learn=False)
        found = await memory.recall("allergic to peanuts", user="u1")
        assert found[0].text == SAID[2]
        assert any("pgvector" in note for note in found.notes)


async def test_an_index_on_a_server_is_one_also_of_a_memory_in_this_process() -> None:
    nowhere = f"http://127.0.0.1:{free_port()}"
    async with AsyncMemory.ephemeral(index="chroma", chroma_url=nowhere, embedder=HashEmbedder(dimensions=8)) as memory:
        (finding,) = (await memory.doctor()).findings
        assert (finding.check, finding.severity) == ("index", "warning")


@pytest.mark.parametrize("name", ["pgvector", "qdrant", "milvus"])
async def test_an_index_on_a_server_needs_its_address(tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidInput, match=f"expected {name}_url"):
        await opened(tmp_path / "home", index=name)
