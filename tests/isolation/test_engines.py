"""On every pair of engines: whatever is asked as somebody else, nothing of the victim's comes back or goes."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from commonplace.adapters.hashing import HashEmbedder
from commonplace.domain.errors import InvalidInput, NotFound
from commonplace.engine.engine import Engine
from commonplace.memory import AsyncMemory
from tests.backends import Backend
from tests.care.folders import settle
from tests.isolation.conftest import SECRET

pytestmark = pytest.mark.backends("pairwise")

QUERY = f"{SECRET} code dog street"


@dataclass(frozen=True, slots=True)
class Held:
    memory: Engine
    """Of the victim's tenant."""
    other: Engine
    """Of another one, with a user of the victim's name."""
    message: str
    fact: str


Ask = Callable[[Engine, str | None, Held], Awaitable[Any]]

ASKED: dict[str, Ask] = {
    "recall": lambda memory, user, held: memory.recall(QUERY, user=user, min_relevance=0, limit=50),
    "recall where": lambda memory, user, held: memory.recall(QUERY, user=user, where={"topic": SECRET}),
    "the latest": lambda memory, user, held: memory.recall("", user=user, limit=50),
    "recall of a session": lambda memory, user, held: memory.recall(QUERY, user=user, session="s1", min_relevance=0),
    "context": lambda memory, user, held: memory.context(QUERY, user=user, session="s1", budget=2_000),
    "facts": lambda memory, user, held: memory.facts(user=user),
    "history": lambda memory, user, held: memory.history(held.fact, user=user),
    "messages": lambda memory, user, held: memory.messages(user=user, session="s1"),
    "blocks": lambda memory, user, held: memory.blocks(user=user),
    "state": lambda memory, user, held: memory.session("s1", user=user).get(),
    "recent": lambda memory, user, held: memory.session("s1", user=user).recent(10),
    "sessions": lambda memory, user, held: memory.sessions(user=user),
    "receipts": lambda memory, user, held: memory.receipts(user=user),
    "profile": lambda memory, user, held: memory.profile(user=user),
    "export": lambda memory, user, held: memory.export(user=user),
    "revise": lambda memory, user, held: memory.revise(held.fact, "Mine", user=user),
    "retract": lambda memory, user, held: memory.retract(held.fact, user=user),
    "forget a message": lambda memory, user, held: memory.forget(user=user, message=held.message),
    "forget a fact": lambda memory, user, held: memory.forget(user=user, fact=held.fact),
}


async def filled(memory: Engine, *, user: str, secret: str) -> tuple[str, str]:
    said = {"content": f"My dog is called {secret}", "metadata": {"topic": secret}}
    added = await memory.add([said, f"I moved to {secret} street"], user=user, session="s1")
    fact = await memory.remember(f"The code is {secret}", user=user)
    await memory.set_block("profile", secret, user=user)
    await memory.session("s1", user=user).update({"code": secret})
    return added.messages[0], fact.id


@pytest.fixture
async def held(backend: Backend, tmp_path: Path) -> AsyncIterator[Held]:
    place = backend.at(tmp_path)
    async with AsyncMemory.open(**place, tenant="acme", embedder=HashEmbedder()) as memory:
        other = await memory.beside("globex")
        message, fact = await filled(memory, user="victim", secret=SECRET)
        await filled(memory, user="intruder", secret="Ordinary")
        await filled(other, user="victim", secret="Ordinary")
        await settle(memory)
        yield Held(memory, other, message, fact)


async def everything(held: Held) -> list[str]:
    """Return all that the victim holds, as the victim sees it."""
    shown = ("facts", "history", "messages", "blocks", "state", "recent", "receipts")
    found = await held.memory.recall(QUERY, user="victim", min_relevance=0)
    return [
        str({hit.id: hit.text for hit in found}),
        *[str(await ASKED[name](held.memory, "victim", held)) for name in shown],
    ]


async def test_nobody_else_is_shown_or_changes_anything(held: Held) -> None:
    before = await everything(held)
    assert all(SECRET in one for one in before[:-1])
    intruders = [(held.memory, user) for user in ("intruder", None, "*", "vict%", "victim ", "Victim")]
    for memory, user in [*intruders, (held.other, "victim"), (held.other, None)]:
        for name, ask in ASKED.items():
            try:
                got = str(await ask(memory, user, held))
            except (NotFound, InvalidInput) as error:
                got = str(error)
            assert SECRET not in got, (name, user)
    assert await everything(held) == before


async def test_what_others_forget_leaves_everything_where_it_was(held: Held) -> None:
    before = await everything(held)
    await asyncio.gather(held.memory.forget(user="intruder"), held.other.forget(whole_tenant="globex"))
    await settle(held.memory)
    assert await everything(held) == before
    assert (await held.memory.doctor()).healthy
