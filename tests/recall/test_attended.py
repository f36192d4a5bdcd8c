"""An index that does not answer: nobody waits for it for long, it is told, and it is used again when it is back."""

import asyncio
from collections.abc import AsyncIterator, Sequence

import pytest

from commonplace.adapters.inmemory.index import InMemoryIndex
from commonplace.domain.errors import IndexUnavailable
from commonplace.ports.index import Near
from commonplace.ports.ledger import Vector
from commonplace.recall import attended
from commonplace.recall.attended import Attended
from tests.contracts.vector_index import ANA, axis


class Hanging(InMemoryIndex):
    """Answers, hangs, or refuses, as it is told; remembers how often it was asked."""

    def __init__(self) -> None:
        super().__init__()
        self.answers, self.asked = asyncio.Event(), 0
        self.answers.set()
        self.refuses = False
        self.lets_go = asyncio.Event()
        """Until then, a call that is given up does not end: as a driver that tells its server first."""
        self.lets_go.set()

    async def search(
        self, collection: str, vector: Vector, *, limit: int, identity: str | None = None
    ) -> Sequence[Near]:
        self.asked += 1
        if self.refuses:
            raise IndexUnavailable("refused")
        try:
            await self.answers.wait()
        except asyncio.CancelledError:
            await self.lets_go.wait()
            raise
        return await super().search(collection, vector, limit=limit, identity=identity)


@pytest.fixture
def hanging() -> Hanging:
    return Hanging()


@pytest.fixture
async def index(hanging: Hanging, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Attended]:
    monkeypatch.setattr(attended, "SHORTEST_REST", 3600.0)
    monkeypatch.setattr(attended, "LONGEST_REST", 3600.0)
    async with Attended(hanging, server=True, within=0.05, slow=0.04) as index:
        await index.upsert(ANA, {1: axis(0)})
        yield index
        await index.close()


async def found(index: Attended) -> Sequence[int]:
    return [near.n for near in await index.search(ANA, axis(0), limit=1)]


async def test_a_server_that_hangs_is_left_alone_once_it_was_waited_for(index: Attended, hanging: Hanging) -> None:
    hanging.answers.clear()
    with pytest.raises(IndexUnavailable, match=r"no answer within 0\.05 s"):
        await found(index)
    for _ in range(3):
        with pytest.raises(IndexUnavailable, match="left alone"):
            await found(index)
    assert hanging.asked == 1
    assert index.figures() == {"up": 0, "answers": 1, "failures": 1, "skipped": 3}


async def test_a_call_that_takes_its_time_to_give_up_is_not_waited_for(index: Attended, hanging: Hanging) -> None:
    hanging.answers.clear()
    hanging.lets_go.clear()
    before = asyncio.all_tasks()
    async with asyncio.timeout(5):
        with pytest.raises(IndexUnavailable, match=r"no answer within 0\.05 s"):
            await found(index)
    assert asyncio.all_tasks() > before
    await index.__aexit__()
    assert asyncio.all_tasks() == before, "it has ended when the index is left"


async def test_whoever_waits_already_stops_when_another_has_found_out(hanging: Hanging) -> None:
    index = Attended(hanging, server=True, within=0.3, slow=0.05)
    await index.upsert(ANA, {1: axis(0)})
    hanging.answers.clear()
    first = asyncio.create_task(found(index))
    await asyncio.sleep(0.05)
    later = [asyncio.create_task(found(index)) for _ in range(3)]
    ended = await asyncio.gather(first, *later, return_exceptions=True)
    assert all(isinstance(one, IndexUnavailable) for one in ended)
    assert index.figures()["failures"] == 1
    assert index.figures()["skipped"] == 3


async def test_one_call_finds_out_for_all_that_it_is_back(index: Attended, hanging: Hanging) -> None:
    hanging.answers.clear()
    with pytest.raises(IndexUnavailable):
        await found(index)
    index._rests_until = 0.0
    trying = asyncio.create_task(found(index))
    await asyncio.sleep(0)
    with pytest.raises(IndexUnavailable, match="left alone"):
        await found(index)
    hanging.answers.set()
    assert await trying == [1]
    assert await found(index) == [1]
    assert index.figures()["up"] == 1


async def test_a_quick_refusal_is_tried_again_at_once(index: Attended, hanging: Hanging) -> None:
    hanging.refuses = True
    for _ in range(3):
        with pytest.raises(IndexUnavailable, match="refused"):
            await found(index)
    assert await index.state() == "ok", "it is asked whether it is back"
    hanging.refuses = False
    assert await found(index) == [1]


async def test_opening_it_may_take_as_long_as_it_takes(hanging: Hanging) -> None:
    index = Attended(hanging, server=True, within=0.01)
    hanging.answers.clear()
    asking = asyncio.create_task(found(index))
    await asyncio.sleep(0.05)
    hanging.answers.set()
    assert await asking == []


async def test_a_folder_of_this_machine_is_never_left_alone(hanging: Hanging) -> None:
    index = Attended(hanging, server=False, within=0.01, slow=0.0)
    hanging.refuses = True
    for _ in range(2):
        with pytest.raises(IndexUnavailable, match="refused"):
            await found(index)
    assert (await index.state()).startswith("IndexUnavailable")
    hanging.refuses = False
    await found(index)
    assert await index.state() == "ok"
