"""A snapshot by way of S3: made while others write, read back whole, restored elsewhere with the same answers."""

import asyncio
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pytest
from hypothesis import settings

from commonplace import AsyncMemory, NotFound
from commonplace.adapters.s3 import S3SnapshotStore
from commonplace.domain.errors import StoreUnavailable
from commonplace.engine.engine import Engine
from tests.backends import Backend
from tests.care.folders import directions, parts_of

pytestmark = pytest.mark.backends("ledgers")
QUESTIONS = ("bird7 in the garden", "which tools", "bird33", "")
MANY, EACH = (100_000, 1_000) if settings.get_current_profile_name() == "soak" else (300, 100)


@pytest.fixture
def place(s3_url: str, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setenv("COMMONPLACE_S3_ENDPOINT", s3_url)
    return f"s3://bucket/{uuid4().hex}"


async def answers(memory: AsyncMemory) -> list[list[tuple[str, float]]]:
    asked = [await memory.recall(question, user="ana", limit=20) for question in QUESTIONS]
    return [[(item.id, item.relevance) for item in found] for found in asked]


async def test_made_under_load_and_restored_elsewhere_it_gives_the_same_answers(
    backend: Backend, tmp_path: Path, place: str
) -> None:
    async with AsyncMemory.open(**backend.at(tmp_path / "memory"), embedder=directions) as memory:
        for start in range(0, MANY, EACH):
            texts = [f"We saw bird{n} in the garden" for n in range(start, start + EACH)]
            await memory.add(texts, user="ana", session=f"s{start}", learn=False)
        await memory.remember("Uses Shram as a tool", user="ana")
        before, stop = await answers(memory), asyncio.Event()

        async def write() -> int:
            told = 0
            while not stop.is_set():
                await memory.add(f"Something else {told}", user="ben", learn=False)
                told += 1
            return told

        writing = asyncio.create_task(write())
        made = await memory.snapshot(place)
        stop.set()
        assert await writing > 0
        assert made.counts["messages"] >= MANY
        assert (await memory.verify_snapshot(at=place)).whole
        assert [one.name for one in await memory.snapshots(place)] == [made.name]
    restored = await AsyncMemory.restore_snapshot(place, backend.named(tmp_path / "elsewhere"))
    assert restored.counts == {name: count for name, count in made.counts.items() if count}
    async with AsyncMemory.open(**backend.at(tmp_path / "elsewhere"), embedder=directions) as memory:
        assert await answers(memory) == before
        assert (await memory.doctor()).healthy


class CutOff(S3SnapshotStore):
    """The line is cut after the parts: what says that they are all of it is never written."""

    async def put(self, name: str, data: bytes) -> None:
        if name.endswith(".json"):
            raise StoreUnavailable(f"{self.place}: the line is dead")
        await super().put(name, data)


async def test_an_upload_that_was_interrupted_is_no_snapshot(
    backend: Backend, tmp_path: Path, place: str, s3_url: str
) -> None:
    async with parts_of(**backend.at(tmp_path / "memory")) as parts:
        async with Engine(replace(parts, open_store=lambda at: CutOff(at, endpoint=s3_url))) as memory:
            await memory.add([f"We saw bird{n}" for n in range(50)], user="ana", learn=False)
            with pytest.raises(StoreUnavailable):
                await memory.snapshot(place)
        store = S3SnapshotStore(place, endpoint=s3_url)
        assert len(await store.names("")) > 0
        async with Engine(replace(parts, open_store=lambda _: store)) as memory:
            assert await memory.snapshots(place) == []
            with pytest.raises(NotFound):
                await memory.verify_snapshot(at=place)
            made = await memory.snapshot(place)
            assert [one.name for one in await memory.snapshots(place)] == [made.name]
    assert (await AsyncMemory.restore_snapshot(place, backend.named(tmp_path / "elsewhere"))).counts["messages"] == 50
