"""What `stats` says of the users, and what it asks for it: the service does so for each scrape of its metrics."""

import asyncio
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from commonplace.adapters.hashing import HashEmbedder
from commonplace.memory import AsyncMemory
from commonplace.ports.ledger import Ledger
from tests.backends import Backend

pytestmark = pytest.mark.backends("ledgers")

SHOWN = 20


def counted(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Count the calls of a ledger, by method."""
    calls: Counter[str] = Counter()

    def counting(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **named: Any) -> Any:
            calls[name] += 1
            return method(*args, **named)

        return call

    for name in (name for name in dir(ledger) if not name.startswith("_")):
        if callable(method := getattr(ledger, name)):
            monkeypatch.setattr(ledger, name, counting(name, method))
    return calls


async def test_the_largest_users_are_told_and_the_ledger_is_not_asked_about_each_of_the_others(
    backend: Backend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = backend.at(tmp_path / "memory")
    async with AsyncMemory.open(**place, embedder=HashEmbedder(dimensions=8)) as memory:
        sizes = {f"u{number}": 1 + number % 7 for number in range(2 * SHOWN)}
        for user, size in sizes.items():
            await asyncio.gather(*(memory.add(f"Bird {n}", user=user, learn=False) for n in range(size)))
        calls = counted(memory._parts.ledger, monkeypatch)
        stats = await memory.stats()
    assert [one.rows for one in stats.partitions] == sorted(sizes.values(), reverse=True)[:SHOWN]
    assert all(one.rows == sizes[one.user or ""] for one in stats.partitions)
    assert stats.counts["users"] == len(sizes)
    assert calls["scopes"] == 1
    assert calls.total() < SHOWN, calls
