"""A memory on PostgreSQL gives the same answers to the same questions as one on SQLite, and says what it needs."""

import asyncio
import random
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
import pytest

from commonplace import AsyncMemory, Recalled
from commonplace.adapters.hashing import HashEmbedder
from commonplace.domain.errors import InvalidInput, LedgerUnavailable

SUBJECTS = ["tea", "a bicycle", "Lisbon", "the piano", "green paint", "old maps", "chess", "bread", "rain", "a dog"]
VERBS = ["I like", "I bought", "We talked about", "My sister dreams of", "I use", "I don't like", "Tell me about"]
WHEN = ["", " on Mondays", " since May", " with Ana", " for work", " at home", " in the evening"]
QUESTIONS = ["who likes tea?", "what do I use for work", "Lisbon", "my sister's dog", "chess with Ana on Mondays", ""]
START = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.fixture
async def both(tmp_path: Path, postgres_emptied: str) -> AsyncIterator[tuple[AsyncMemory, AsyncMemory]]:
    async with AsyncExitStack() as stack:
        places = [str(tmp_path / "memory"), postgres_emptied]
        sqlite, postgres = [
            await stack.enter_async_context(AsyncMemory.open(place, embedder=HashEmbedder())) for place in places
        ]
        yield sqlite, postgres


def conversation(count: int, *, seed: int) -> list[dict[str, object]]:
    draw = random.Random(seed)
    return [
        {
            "id": f"m{n}",
            "role": "user" if n % 3 else "assistant",
            "content": f"{draw.choice(VERBS)} {draw.choice(SUBJECTS)}{draw.choice(WHEN)}.",
            "at": START + timedelta(hours=n),
            "metadata": {"n": n},
        }
        for n in range(count)
    ]


def shown(hits: Sequence[Recalled]) -> list[tuple[str, str]]:
    """Return kinds and texts, best first; of equal scores in the order of texts, for theirs is nobody's promise."""
    return [(hit.kind, hit.text) for hit in sorted(hits, key=lambda hit: (-round(hit.score, 4), hit.text))]


async def test_the_same_questions_have_the_same_answers(both: tuple[AsyncMemory, AsyncMemory]) -> None:
    for memory in both:
        for user, seed in (("ana", 1), ("ben", 2)):
            for number, message in enumerate(conversation(60, seed=seed)):
                await memory.add([message], user=user, session=f"s{number // 20}")
    for user in ("ana", "ben"):
        for question in QUESTIONS:
            one, other = [await memory.recall(question, user=user, limit=10) for memory in both]
            assert shown(one) == shown(other)
            assert sorted(hit.score for hit in one) == pytest.approx(sorted(hit.score for hit in other), abs=1e-4)


async def test_a_key_for_the_file_is_refused_with_a_server() -> None:
    with pytest.raises(InvalidInput, match="encrypts a SQLite file"):
        async with AsyncMemory.open("postgresql:///nowhere", embedder=HashEmbedder(), ledger_key="secret"):
            pass


async def test_without_the_driver_one_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in [name for name in sys.modules if name.startswith("commonplace.adapters.postgres")]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(LedgerUnavailable, match=r"pip install 'commonplace\[postgres\]'"):
        async with AsyncMemory.open("postgres:///nowhere", embedder=HashEmbedder()):
            pass


async def test_a_memory_that_could_not_be_opened_leaves_nothing_behind(postgres_emptied: str) -> None:
    """A table that it looks at while it opens is locked by somebody else."""
    async with AsyncMemory.open(postgres_emptied, embedder=HashEmbedder(dimensions=8)):
        pass
    before = asyncio.all_tasks()
    async with await psycopg.AsyncConnection.connect(postgres_emptied) as other:
        await other.execute("lock table partitions in access exclusive mode")
        with pytest.raises(LedgerUnavailable, match=r"no answer within 0\.2 s"):
            await AsyncMemory.open(
                postgres_emptied, embedder=HashEmbedder(dimensions=8), postgres_statement_timeout=0.2
            )
    assert asyncio.all_tasks() == before
