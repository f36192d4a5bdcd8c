"""A forget that is killed at any of its stages is completed by whoever opens the memory next."""

import asyncio
import multiprocessing
import signal
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from commonplace.domain.errors import IndexUnavailable
from commonplace.domain.receipts import Part, digest_of
from commonplace.domain.values import MessageId, SessionId
from tests.backends import Backend
from tests.care.folders import contents, forms, memory_of, parts_of, settle, traces
from tests.care.forgetter import main

STAGES = ("begun", "erased", "caches", "index", "files", "verified", "concluded")
processes = multiprocessing.get_context("forkserver")
processes.set_forkserver_preload(["tests.care.forgetter"])


pytestmark = pytest.mark.backends("ledgers")


@pytest.fixture
async def place(backend: Backend, tmp_path: Path) -> AsyncIterator[dict[str, Any]]:
    folder = tmp_path / "memory"
    place = {**backend.at(folder), "index": "chroma"}
    async with memory_of(**place) as memory:
        for n in range(8):
            await memory.add({"id": f"m{n}", "content": f"I use jxqtool{n} as a tool"}, user="ana", session="s1")
        await memory.add({"id": "m9", "content": "I like wkbtea"}, user="ana", session="s2")
        await memory.add("I use wkbtool as a tool", user="ben")
        await settle(memory)
    yield place


def die(place: dict[str, Any], what: Part | None, at: str) -> int | None:
    child = processes.Process(target=main, args=(place, "ana", what, at))
    child.start()
    child.join()
    return child.exitcode


@pytest.mark.parametrize("stage", STAGES)
async def test_a_forget_that_was_killed_is_completed_when_the_memory_is_opened(
    place: dict[str, Any], backend: Backend, stage: str
) -> None:
    async with memory_of(**place) as memory:
        facts = [fact.id for fact in await memory.facts(user="ana") if "jxq" in fact.text]
        expected = (await memory.forget(user="ana", session="s1", dry_run=True)).counts
        others = await memory.recall("tools", user="ben", explain=True)
    assert len(facts) == 8
    assert await asyncio.to_thread(die, place, Part(session=SessionId("s1")), stage) == -signal.SIGKILL

    async with memory_of(**place) as memory:
        receipts = await memory.receipts(user="ana")
        if stage == "begun":
            assert receipts == []
            receipts = [await memory.forget(user="ana", session="s1")]
        (receipt,) = receipts
        assert receipt.counts == expected
        assert receipt.digest == digest_of([MessageId(f"m{n}") for n in range(8)], facts)
        files = {"files"} if backend.ledger == "sqlite" else set()
        assert set(receipt.verified) - {"redis"} == {"ledger", "cache", "index"} | files
        assert receipt.at is not None
        assert [message.id for message in await memory.messages(user="ana")] == ["m9"]
        assert [item.text for item in await memory.recall("wkbtea", user="ana")] != []
        assert await memory.recall("tools", user="ben", explain=True) == others
        assert (await memory.doctor()).healthy
    # Closed: Chroma lets old memory into the files of a new collection, which is blanked then.
    assert traces(place["home"], forms(["jxq"])) == []


async def test_a_tenant_that_was_cut_short_is_forgotten_whole(place: dict[str, Any]) -> None:
    assert await asyncio.to_thread(die, place, None, "erased") == -signal.SIGKILL
    async with memory_of(**place) as memory:
        assert [len(await memory.receipts(user=user)) for user in ("ana", "ben")] == [1, 1]
        assert await memory.recall("tools", user="ben") == []
    assert traces(place["home"], forms(["jxq", "wkb"])) == []


async def test_what_cannot_be_finished_now_is_finished_later(place: dict[str, Any]) -> None:
    async with parts_of(**place) as owner:
        assert owner.index is not None and owner.index.owned
        async with memory_of(**place) as memory:
            with pytest.raises(IndexUnavailable, match="when the memory is next opened"):
                await memory.forget(user="ana")
            assert await memory.recall("tools", user="ana") == []
            assert await memory.receipts(user="ana") == []
    async with memory_of(**place) as memory:
        (receipt,) = await memory.receipts(user="ana")
        assert "index" in receipt.verified
    assert b"jxq" not in b"".join(contents(place["home"]).values())
