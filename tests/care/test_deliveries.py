"""Deliveries to an index that many processes share, while one of them forgets."""

import asyncio
import contextlib
from pathlib import Path
from typing import Any

import pytest

from commonplace.domain.errors import IndexUnavailable
from commonplace.domain.scope import Scope
from commonplace.ports.ledger import Vector
from commonplace.recall.projector import collection_name, deliver, wanted
from tests.backends import Backend
from tests.care.folders import directions, memory_of, parts_of, settle

ANA = Scope(tenant="default", user="ana")

pytestmark = pytest.mark.backends("servers")


@pytest.mark.parametrize("what", [{"message": "m1"}, {}], ids=["a message", "a user"])
async def test_a_delivery_of_another_process_that_was_held_up_brings_nothing_back(
    backend: Backend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: dict[str, Any]
) -> None:
    place = backend.at(tmp_path / "memory")
    async with memory_of(**{**place, "index": "exact"}) as memory:
        await memory.add({"id": "m1", "content": "the code of the safe is 1234"}, user="ana")
        await memory.add({"id": "m2", "content": "the weather is fine"}, user="ana")

    async with parts_of(**place) as theirs:
        assert theirs.index is not None
        read, go = asyncio.Event(), asyncio.Event()
        upsert = theirs.index.upsert

        async def late(collection: str, vectors: dict[int, Vector], **more: Any) -> None:
            read.set()
            await go.wait()
            await upsert(collection, vectors, **more)

        monkeypatch.setattr(theirs.index, "upsert", late)
        delivery = asyncio.create_task(deliver(theirs.ledger, theirs.index, ANA))
        await read.wait()
        async with memory_of(**place) as memory:
            await memory.forget(user="ana", **what)
            await memory.add({"id": "m3", "content": "the coffee is hot"}, user="ana")
            await settle(memory)
        versions = await theirs.ledger.versions(ANA)
        collection = collection_name(theirs.ledger.name, versions.number, versions.generation)
        with contextlib.suppress(IndexUnavailable):  # a recall there learns that the collection is another
            await theirs.index.search(collection, directions(["safe"])[0], limit=1)
        go.set()
        with pytest.raises(IndexUnavailable):
            await delivery
        assert await theirs.index.numbers(collection) == wanted(await theirs.ledger.feed(ANA, vectors=False))
