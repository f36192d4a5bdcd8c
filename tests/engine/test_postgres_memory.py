"""A memory on PostgreSQL: the story, and the same answers to the same questions as on SQLite."""

import random
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from commonplace import AsyncMemory, Memory, Recalled
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


def test_the_story(postgres_emptied: str) -> None:
    with Memory.open(postgres_emptied, embedder=HashEmbedder()) as memory:
        memory.add("I use Shram and Magnet as productivity tools", user="u1", session="s1")
        assert {fact.value for fact in memory.facts(user="u1")} == {"Shram", "Magnet"}
        memory.add("I don't use Magnet anymore", user="u1", session="s2")
    with Memory.open(postgres_emptied, embedder=HashEmbedder()) as memory:
        assert [fact.value for fact in memory.facts(user="u1")] == ["Shram"]
        magnet = next(hit for hit in memory.recall("Magnet", user="u1") if hit.kind == "message")
        assert "Magnet" in magnet.text
        assert "ledger" in memory.forget(user="u1").verified
        assert memory.recall("Magnet", user="u1") == []
        assert list(memory.facts(user="u1")) == []


async def test_another_process_sees_what_was_added_at_once(postgres_emptied: str) -> None:
    async with (
        AsyncMemory.open(postgres_emptied, embedder=HashEmbedder()) as one,
        AsyncMemory.open(postgres_emptied, embedder=HashEmbedder()) as other,
    ):
        await one.add("The piano is by the window", user="ana")
        assert len(await other.recall("piano", user="ana")) == 1
        await other.add("A piano was sold", user="ana")
        assert len(await one.recall("piano", user="ana")) == 2


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
