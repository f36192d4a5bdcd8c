"""A memory goes from one engine to another and back, by snapshot and by export, and answers as before."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest

from commonplace.domain.errors import NotFound
from commonplace.engine.engine import Engine
from commonplace.memory import AsyncMemory
from tests.backends import Backend
from tests.care.close import Close
from tests.care.folders import NOW, memory_of

QUESTIONS = ("which tools do I use", "tea", "what am I allergic to", "")

pytestmark = pytest.mark.backends("ledgers")


async def told(memory: Engine) -> None:
    await memory.add("I use Shram and Magnet as tools", user="ana", session="s1", at=NOW - timedelta(days=9))
    await memory.add("I don't use Magnet anymore", user="ana", session="s2", at=NOW - timedelta(days=2))
    await memory.add({"id": "m\0\ud800", "content": "Tea \0 with milk"}, user="ana")
    await memory.remember("Allergic to peanuts", user="ana", metadata={"topic": "health"})
    await memory.set_block("profile", "A gardener", user="ana")
    await memory.session("s1", user="ana").update({"step": 1})
    await memory.add("I use Wkbtool as a tool", user="ben")
    await memory.forget(user="ben")
    await memory.stats()  # by then every vector is there


async def answers(memory: Engine) -> list[Any]:
    """What it says to every question, what it knows, and what happened to it."""
    found = [await memory.recall(question, user="ana", min_relevance=0) for question in QUESTIONS]
    facts = list(await memory.facts(user="ana", valid_at=NOW - timedelta(days=5)))
    return [
        [[(one.id, one.text, Close(one.relevance), one.note) for one in hits] for hits in found],
        facts,
        [await memory.history(fact.id, user="ana") for fact in facts],
        list(await memory.messages(user="ana")),
        await memory.blocks(user="ana"),
        await memory.session("s1", user="ana").get(),
        await memory.receipts(user="ben"),
    ]


async def test_a_snapshot_of_one_ledger_is_restored_into_the_other_and_back(backend: Backend, tmp_path: Path) -> None:
    async with memory_of(tmp_path / "first") as memory:
        await told(memory)
        before = await answers(memory)
        await memory.snapshot(tmp_path / "snapshots")
    place = backend.at(tmp_path / "second")
    into = place.get("database_url", tmp_path / "second")
    await AsyncMemory.restore_snapshot(tmp_path / "snapshots", into)
    async with memory_of(**backend.at(tmp_path / "second")) as memory:
        assert await answers(memory) == before
        assert (await memory.doctor()).healthy
        await memory.snapshot(tmp_path / "more snapshots")
    await AsyncMemory.restore_snapshot(tmp_path / "more snapshots", tmp_path / "third")
    async with memory_of(tmp_path / "third") as memory:
        assert await answers(memory) == before


async def test_an_export_is_imported_by_the_other_ledger(backend: Backend, tmp_path: Path) -> None:
    async with memory_of(tmp_path / "first") as memory:
        await told(memory)
        before = await answers(memory)
        await memory.export(user="ana", to=tmp_path / "ana.jsonl")
    async with memory_of(**backend.at(tmp_path / "second")) as memory:
        await memory.import_from(tmp_path / "ana.jsonl", user="ana")
        assert (await answers(memory))[:-1] == before[:-1]


async def test_a_database_is_given_no_tables_for_a_snapshot_that_is_not_there(
    postgres_database: str, tmp_path: Path
) -> None:
    with pytest.raises(NotFound):
        await AsyncMemory.restore_snapshot(tmp_path / "snapshots", postgres_database)
    with psycopg.connect(postgres_database) as connection:
        made = connection.execute("select count(*) from pg_tables where schemaname = current_schema()")
        assert made.fetchone() == (0,)
