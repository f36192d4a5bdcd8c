"""Another embedding model takes the place of the one in use, while the memory is in use."""

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import pytest

from commonplace import AsyncMemory
from commonplace.adapters.hashing import HashEmbedder
from commonplace.domain.errors import Conflict, EmbedderMismatch, InvalidInput
from commonplace.domain.scope import Scope
from commonplace.ports.models import Models
from tests.backends import Backend
from tests.care.migration.models import NEW, OLD, Rows, Turned, senseless

WORDS = ("garden", "bicycle", "kitchen", "harbour", "violin", "mountain", "letter", "window", "candle", "river")


async def tell(memory: AsyncMemory, *, user: str = "ana", count: int = 40, start: int = 0) -> None:
    for n in range(start, start + count):
        one, other = WORDS[n % 10], WORDS[(n // 10) % 10]
        await memory.add(f"I saw the {one} near the {other}, number{n}", user=user, session=f"s{n // 10}")


async def texts(memory: AsyncMemory, question: str = "the violin near the river", user: str = "ana") -> list[str]:
    return [item.text for item in await memory.recall(question, user=user, limit=5)]


async def dimensions(memory: AsyncMemory, user: str = "ana") -> set[int | None]:
    feed = await memory._parts.ledger.feed(Scope("default", user))
    rows = [*(row.vector for row in feed.messages), *(row.vector for row in feed.facts)]
    return {None if vector is None else len(vector) // 4 for vector in rows}


@pytest.mark.backends("ledgers")
async def test_every_vector_is_made_compared_and_switched_to(backend: Backend, tmp_path: Path) -> None:
    seen: list[tuple[str, int, int | None]] = []
    async with AsyncMemory.open(**backend.at(tmp_path), embedder=OLD) as memory:
        await tell(memory)
        await memory.remember("Allergic to peanuts", user="ben")
        before = await texts(memory)
        done = await memory.migrate_embeddings(to=NEW, progress=lambda *step: seen.append(step))
        assert (done.before, done.switched, done.embedded) == ("hash/64", True, done.rows)
        assert done.after == "turned/256"
        assert done.overlap is not None
        assert (done.sampled, done.overlap > 0.5) == (40, True)
        assert seen[0][0] == "Embedding"
        assert {"Embedding", "Comparing"} == {what for what, _, _ in seen}
        assert await dimensions(memory) == {256}
        assert await texts(memory) == before
        assert (await memory.stats()).embedder == done.after
        assert (await memory.doctor()).healthy
    async with AsyncMemory.open(**backend.at(tmp_path), embedder=NEW) as memory:
        assert await texts(memory) == before


@pytest.mark.backends("ledgers")
async def test_every_tenant_changes_with_it(backend: Backend, tmp_path: Path) -> None:
    async with AsyncMemory.open(**backend.at(tmp_path), embedder=OLD) as memory:
        other = await memory.beside("other")
        await tell(memory, count=5)
        await tell(other, count=5)
        assert await texts(other)
        await memory.migrate_embeddings(to=NEW)
        assert await texts(other)
        feed = await other._parts.ledger.feed(Scope("other", "ana"))
        assert {len(row.vector or b"") for row in feed.messages} == {4 * 256}
        await other.aclose()


@pytest.mark.backends("ledgers")
async def test_what_is_written_and_asked_meanwhile_is_served(backend: Backend, tmp_path: Path) -> None:
    async with AsyncMemory.open(**backend.at(tmp_path), embedder=OLD) as memory:
        await tell(memory, count=60)
        stop = asyncio.Event()

        async def work() -> int:
            told = 0
            while not stop.is_set():
                await memory.add(f"I keep a lantern{told} in the attic", user="ana", session="live")
                found = await memory.recall(f"where is lantern{told}", user="ana", limit=300, min_relevance=0.0)
                assert any(f"lantern{told} " in item.text for item in found)
                told += 1
            return told

        working = asyncio.create_task(work())
        done = await memory.migrate_embeddings(to=NEW)
        await asyncio.sleep(0.1)
        stop.set()
        told = await working
        assert done.switched
        assert told > 1
        assert await dimensions(memory) == {256}
        assert (await memory.doctor()).healthy


@pytest.mark.backends("ledgers")
async def test_another_process_follows_where_it_can_and_says_so_where_it_cannot(
    backend: Backend, tmp_path: Path
) -> None:
    """Two memories on one folder share nothing but the files, as two processes do."""
    async with (
        AsyncMemory.open(**backend.at(tmp_path), embedder=OLD) as memory,
        AsyncMemory.open(**backend.at(tmp_path), embedder=HashEmbedder(64)) as other,
    ):
        await tell(memory, count=20)
        assert await texts(other)
        await memory.migrate_embeddings(to=NEW)
        added = await other.add("I keep the zeppelin in the attic", user="ana")
        assert added.messages
        assert any("zeppelin" in text for text in await texts(other, "zeppelin"))
        found = await other.recall("zeppelin", user="ana")
        assert any("open it with that embedder" in note for note in found.notes)
        assert await dimensions(memory) == {256, None}
        assert (await memory.doctor(repair=True)).findings
        assert await dimensions(memory) == {256}
        await memory.roll_back_embeddings()
        assert (await other.recall("zeppelin", user="ana")).notes == ()
        assert await dimensions(memory) == {64}


@pytest.mark.backends("ledgers")
async def test_the_way_back_embeds_what_was_written_since(backend: Backend, tmp_path: Path) -> None:
    async with AsyncMemory.open(**backend.at(tmp_path), embedder=OLD) as memory:
        await tell(memory, count=20)
        before = await texts(memory)
        await memory.migrate_embeddings(to=NEW)
        await tell(memory, count=3, start=20)
        state = await memory.embeddings()
        assert state.aside is not None
        assert (state.generation, state.aside.model, state.aside.state) == (1, "hash/64", "kept")
        done = await memory.roll_back_embeddings()
        assert (done.after, done.embedded >= 3) == ("hash/64", True)
        assert await dimensions(memory) == {64}
        assert (await texts(memory))[:1] == before[:1]
    async with AsyncMemory.open(**backend.at(tmp_path), embedder=OLD) as memory:
        assert await texts(memory)


@pytest.mark.backends("ledgers")
async def test_what_is_not_in_use_can_be_removed(backend: Backend, tmp_path: Path) -> None:
    async with AsyncMemory.open(**backend.at(tmp_path), embedder=OLD) as memory:
        await tell(memory, count=20)
        assert await memory.discard_embeddings() == 0
        await memory.migrate_embeddings(to=NEW, switch=False)
        assert await dimensions(memory) == {64}
        assert await memory.discard_embeddings() == 20
        assert (await memory.embeddings()).aside is None
        await memory.migrate_embeddings(to=NEW)
        await memory.discard_embeddings()
        with pytest.raises(Conflict, match="go back to"):
            await memory.roll_back_embeddings()
        assert await texts(memory)


@pytest.mark.backends("ledgers")
async def test_a_model_that_agrees_on_nothing_is_not_switched_to(backend: Backend, tmp_path: Path) -> None:
    async with AsyncMemory.open(**backend.at(tmp_path), embedder=OLD) as memory:
        await tell(memory, count=100)
        before = await texts(memory)
        with pytest.raises(EmbedderMismatch, match="nothing was switched"):
            await memory.migrate_embeddings(to=senseless, least_overlap=0.5)
        assert await texts(memory) == before
        with pytest.raises(Conflict, match="aside"):
            await memory.migrate_embeddings(to=NEW)
        done = await memory.migrate_embeddings(to=senseless, least_overlap=0.0)
        assert (done.switched, done.embedded) == (True, 0)


@pytest.mark.backends("ledgers")
async def test_a_model_that_changes_its_mind_is_found_out(backend: Backend, tmp_path: Path) -> None:
    calls = 0

    def fickle(asked: list[str]) -> Rows:
        nonlocal calls
        calls += 1
        return senseless([f"{text} {calls > 2}" for text in asked])

    async with AsyncMemory.open(**backend.at(tmp_path), embedder=OLD) as memory:
        await tell(memory, count=40)
        with pytest.raises(EmbedderMismatch, match="not one model"):
            await memory.migrate_embeddings(to=fickle)
        assert await dimensions(memory) == {64}


@pytest.mark.backends("ledgers")
async def test_the_model_in_use_is_no_migration(backend: Backend, tmp_path: Path) -> None:
    async with AsyncMemory.open(**backend.at(tmp_path), embedder=OLD) as memory:
        await tell(memory, count=3)
        done = await memory.migrate_embeddings(to=HashEmbedder(64))
        assert (done.switched, done.embedded, done.before) == (False, 0, done.after)


@pytest.mark.parametrize("wrong", ["", "openai", ":x", 7, None])
async def test_what_is_no_model_is_refused_by_its_name(tmp_path: Path, wrong: object) -> None:
    async with AsyncMemory.open(tmp_path, embedder=OLD) as memory:
        with pytest.raises(InvalidInput, match="expected"):
            await memory.migrate_embeddings(to=wrong)


@pytest.mark.backends("ledgers")
async def test_what_is_forgotten_meanwhile_leaves_no_vector(backend: Backend, tmp_path: Path) -> None:
    async with AsyncMemory.open(**backend.at(tmp_path), embedder=OLD) as memory:
        await tell(memory, count=20)
        await tell(memory, user="ben", count=5)
        await memory.migrate_embeddings(to=NEW, switch=False)
        await memory.forget(user="ana")
        await memory.migrate_embeddings(to=NEW)
        await memory.forget(user="ben")
        assert (await memory.embeddings()).aside is not None
        assert (await memory.embeddings()).aside.rows == 0  # type: ignore[union-attr]
        assert (await memory.doctor()).healthy


@pytest.mark.parametrize("index", ["exact", "chroma"])
async def test_a_memory_in_this_process_can_change_too(index: str) -> None:
    async with AsyncMemory.ephemeral(embedder=OLD, index=index) as memory:
        await tell(memory, count=20)
        before = await texts(memory)
        await memory.migrate_embeddings(to=NEW)
        assert await texts(memory) == before


@pytest.mark.backends("indexed")
async def test_the_index_follows(backend: Backend, tmp_path: Path) -> None:
    async with AsyncMemory.open(**backend.at(tmp_path), embedder=OLD, learn=False) as memory:
        await tell(memory, count=30)
        before = await texts(memory)
        await settle(memory)
        assert not any(name.endswith("-g1") for name in await own_collections(memory))
        await memory.migrate_embeddings(to=NEW)
        assert await texts(memory) == before
        await settle(memory)
        assert [name.endswith("-g1") for name in await own_collections(memory)] == [True]
        found = await memory.recall("the violin near the river", user="ana", limit=5, explain=True)
        assert [item.text for item in found] == before
        assert {item.why.path for item in found if item.why} == {backend.settings["index"]}
        await memory.forget(user="ana")
        assert (await memory.doctor()).healthy


async def own_collections(memory: AsyncMemory) -> list[str]:
    """Return what an index that others may use, too, has of this ledger."""
    return [name for name in (await memory.stats()).collections if memory._parts.ledger.name in name]


async def settle(memory: AsyncMemory) -> None:
    while any(one.waiting for one in (await memory.stats()).partitions):  # noqa: ASYNC110 - the projector tells nobody
        await asyncio.sleep(0.05)


class Waits:
    """As the old one, but somebody may get in between."""

    identity, dimensions = OLD.identity, OLD.dimensions

    def __init__(self) -> None:
        self.meanwhile: Callable[[], Awaitable[object]] | None = None

    async def embed(self, texts: Sequence[str]) -> Rows:
        meanwhile, self.meanwhile = self.meanwhile, None
        if meanwhile is not None:
            await meanwhile()
        return await OLD.embed(texts)


@pytest.mark.backends("ledgers")
@pytest.mark.parametrize("how", ["import", "add"])
async def test_what_was_embedded_before_a_switch_by_another_process_is_embedded_anew(
    backend: Backend, tmp_path: Path, how: str
) -> None:
    old = Waits()
    async with (
        AsyncMemory.open(**backend.at(tmp_path), embedder=old) as memory,
        AsyncMemory.open(**backend.at(tmp_path), embedder=OLD) as other,
    ):
        await tell(memory, count=3)
        await memory.migrate_embeddings(to=NEW)  # so that it has the new model at hand
        await memory.roll_back_embeddings()
        async with AsyncMemory.ephemeral(embedder=NEW) as elsewhere:
            await elsewhere.add("I keep the zeppelin in the attic", user="ana")
            export = await elsewhere.export(user="ana")
        old.meanwhile = lambda: other.migrate_embeddings(to=NEW)
        if how == "import":
            await memory.import_from(export)
        else:
            await memory.add("I keep the zeppelin in the attic", user="ana")
        assert old.meanwhile is None
        assert await dimensions(other) == {256}


class Pressed(Turned):
    """While it works, somebody always writes."""

    identity = "pressed/256"

    def __init__(self, press: Callable[[], Awaitable[object]]) -> None:
        self._press, self.pressing = press, set[asyncio.Future[object]]()

    async def embed(self, texts: Sequence[str]) -> Rows:
        if len(self.pressing) < 30:
            self.pressing.add(asyncio.ensure_future(self._press()))
            await asyncio.wait(self.pressing, timeout=0.3)
        return await super().embed(texts)


class CutShort(Exception):  # noqa: N818 - no error: what the test does
    pass


@pytest.mark.backends("ledgers")
async def test_who_writes_without_a_pause_waits_a_moment_and_no_row_is_left_without_a_vector(
    backend: Backend, tmp_path: Path
) -> None:
    def stage(name: str) -> None:
        if name == "switched":
            raise CutShort

    async with AsyncMemory.open(**backend.at(tmp_path), embedder=OLD, learn=False) as memory:
        users = (f"u{n}" for n in itertools.count())
        new = Pressed(lambda: memory.add("I keep the zeppelin in the attic", user=next(users)))
        await tell(memory, count=3)
        memory._migrating._stage = stage
        with pytest.raises(CutShort):
            await memory.migrate_embeddings(to=new)
        await asyncio.wait(new.pressing)
        ledger = memory._parts.ledger
        assert isinstance(ledger, Models)
        everyone = [scope.user or "" for scope in await ledger.everyone()]
        assert {user: await dimensions(memory, user) for user in everyone} == {user: {256} for user in everyone}
        assert len(everyone) > 3
