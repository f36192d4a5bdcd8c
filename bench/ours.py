"""Commonplace, opened and filled through its public methods."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bench.material import Material, Question
from bench.rivals import TOP, Floor
from commonplace import AsyncMemory
from commonplace.memory import Opening
from commonplace.wiring import Embed

SESSION = 50
"""Messages in a session, and in a call of `add`."""
AT_ONCE = 64
START = datetime(2024, 1, 1, tzinfo=UTC)


def opening(
    folder: Path,
    material: Material,
    *,
    tenant: str = "default",
    index: str = "exact",
    embedder: Embed | None = None,
) -> Opening:
    return AsyncMemory.open(folder, tenant=tenant, embedder=embedder or material.embed, index=index)


async def fill(memory: AsyncMemory, material: Material, users: Sequence[tuple[str, Sequence[int]]]) -> None:
    """Keep the items of these numbers for each user, under their numbers as ids, in sessions of a few dozen."""
    calls = [
        (user, numbers[start : start + SESSION]) for user, numbers in users for start in range(0, len(numbers), SESSION)
    ]
    for start in range(0, len(calls), AT_ONCE):
        await asyncio.gather(*(_keep(memory, material, *call) for call in calls[start : start + AT_ONCE]))


async def _keep(memory: AsyncMemory, material: Material, user: str, numbers: Sequence[int]) -> None:
    said = [
        {"role": "user", "content": material.texts[n], "id": str(n), "at": START + timedelta(minutes=n)}
        for n in numbers
    ]
    await memory.add(said, user=user, session=f"s{numbers[0]}", learn=False)


async def dense_recall(memory: AsyncMemory, floor: Floor, *, user: str, questions: Sequence[Question]) -> float:
    """Return which share of the true nearest the dense arm has among its first ten."""
    right = wanted = 0
    for question in questions:
        best = floor.search(question.vector)
        found = await memory.recall(
            question.text, user=user, limit=500, min_relevance=0, kinds={"message"}, explain=True
        )
        ranks = {int(item.id): item.why.arms["dense"][0] for item in found if item.why and "dense" in item.why.arms}
        right += sum(ranks.get(n, TOP + 1) <= TOP for n in best)
        wanted += len(best)
    return right / wanted
