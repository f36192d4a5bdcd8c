"""Tenants and users with an embedding model of their own, beside everybody else's in one ledger."""

import asyncio
from collections.abc import Mapping
from pathlib import Path

import pytest

from commonplace import AsyncMemory
from commonplace.adapters.hashing import HashEmbedder
from commonplace.domain.errors import EmbedderMismatch, InvalidInput
from commonplace.memory import Opening
from tests.backends import Backend

EVERYBODYS, ACME, ANAS = HashEmbedder(dimensions=32), HashEmbedder(dimensions=48), HashEmbedder(dimensions=64)
OWN = {"acme": ACME, "acme/ana": ANAS}
TOOLS = "I use Shram and Magnet as productivity tools"
WHO = {("acme", "ana"): 64, ("acme", "ben"): 48, ("acme", None): 48, ("other", "ana"): 32}


def at(backend: Backend, folder: Path, own: Mapping[str, HashEmbedder] | None = None, **more: object) -> Opening:
    place = {"tenant": "acme", **backend.at(folder), **more}
    return AsyncMemory.open(embedder=EVERYBODYS, embedders=OWN if own is None else own, **place)


async def tell(memory: AsyncMemory, *users: str | None) -> None:
    for user in users:
        await memory.add([f"{TOOLS}.", "My sister lives in Lisbon."], user=user, session="s1")
        await memory.remember("Allergic to peanuts", user=user)


async def lengths(memory: AsyncMemory, user: str | None) -> set[int]:
    """Return how many numbers the vectors of a user have; 0 for a row without one."""
    await memory.stats()  # the vectors of facts are filled in just after they are written
    feed = await memory._parts.ledger.feed(memory._scope(user))
    vectors = [*(row.vector for row in feed.messages), *(row.vector for row in feed.facts)]
    return {len(vector or b"") // 4 for vector in vectors}


async def works(memory: AsyncMemory, user: str | None) -> None:
    hits = await memory.recall("which productivity tools do I use?", user=user, explain=True)
    assert any("Shram" in hit.text for hit in hits)
    assert not hits.notes
    assert "Shram" in str(await memory.context("which tools do I use?", user=user))


@pytest.mark.backends("pairwise")
async def test_each_namespace_is_read_by_its_model_and_all_are_found(backend: Backend, tmp_path: Path) -> None:
    async with at(backend, tmp_path, exact_up_to=2) as acme:
        other = await acme.beside("other")
        for (tenant, user), dimensions in WHO.items():
            memory = acme if tenant == "acme" else other
            await tell(memory, user)
            await works(memory, user)
            assert await lengths(memory, user) == {dimensions}
            assert (await memory.embed(["tools"], user=user)).shape == (1, dimensions)
        while any(one.waiting for one in (await acme.stats()).partitions):  # noqa: ASYNC110 - it tells nobody
            await asyncio.sleep(0.02)
        await works(acme, "ana")
        stats, elsewhere = await acme.stats(), await other.stats()
        assert dict(stats.own_embedders) == {ANAS.identity: 1, ACME.identity: 2}
        assert (stats.embedder, dict(elsewhere.own_embedders)) == (EVERYBODYS.identity, {})
        assert (await acme.doctor()).healthy
        receipt = await acme.forget(user="ben")
        assert receipt.verified
        assert await acme.recall("tools", user="ben") == []
        await works(acme, "ana")
        await other.aclose()
    async with at(backend, tmp_path) as again:
        await works(again, "ana")
        assert (await again.reindex(embed=True)).embedded
        await works(again, "ana")
        assert await lengths(again, "ana") == {64}


@pytest.mark.backends("ledgers")
async def test_another_model_is_refused_for_that_user_alone_and_the_way_out_is_named(
    backend: Backend, tmp_path: Path
) -> None:
    async with at(backend, tmp_path) as memory:
        await tell(memory, "ana", "ben")
    async with at(backend, tmp_path, {"acme": ACME}) as memory:
        way_out = r"'ana'.*hash.*64.*hash.*48.*`commonplace reindex --embed --user ana`"
        with pytest.raises(EmbedderMismatch, match=way_out):
            await memory.recall("tools", user="ana")
        with pytest.raises(EmbedderMismatch, match=way_out):
            await memory.add("I use Notion", user="ana")
        with pytest.raises(EmbedderMismatch, match=way_out):
            await memory.remember("Uses Notion", user="ana")
        found = (await memory.doctor()).findings
        assert [one.check for one in found] == ["model"], found
        assert (await memory.forget(user="ana", session="s1")).verified
        await works(memory, "ben")
        await memory.remember("Allergic to peanuts and nuts", user="ben")
        assert (await memory.reindex(embed=True, users=["ana"])).embedded
        assert await lengths(memory, "ana") == {48}
        assert [hit.text for hit in await memory.recall("peanuts", user="ana")] == ["Allergic to peanuts"]
        assert (await memory.doctor()).healthy


@pytest.mark.backends("ledgers")
async def test_a_user_comes_to_a_model_of_their_own_and_back(backend: Backend, tmp_path: Path) -> None:
    async with at(backend, tmp_path, {}) as memory:
        await tell(memory, "ana")
        assert await lengths(memory, "ana") == {32}
    async with at(backend, tmp_path, {"acme/ana": ANAS}) as memory:
        with pytest.raises(EmbedderMismatch):
            await memory.recall("tools", user="ana")
        await memory.reindex(embed=True, users=["ana"])
        await works(memory, "ana")
        assert await lengths(memory, "ana") == {64}
    async with at(backend, tmp_path, {}) as memory:
        with pytest.raises(EmbedderMismatch, match="hash"):
            await memory.add("I use Notion", user="ana")
        await memory.reindex(embed=True)
        await works(memory, "ana")
        assert await lengths(memory, "ana") == {32}
        assert dict((await memory.stats()).own_embedders) == {}


@pytest.mark.backends("ledgers")
async def test_what_was_cut_short_is_refused_until_it_is_done(backend: Backend, tmp_path: Path) -> None:
    async with at(backend, tmp_path, {}) as memory:
        await tell(memory, "ana")
    async with at(backend, tmp_path) as memory:
        await memory._choosing.begin_anew(memory._scope("ana"))
    async with at(backend, tmp_path) as memory:
        with pytest.raises(EmbedderMismatch, match="not all made anew.*reindex --embed --user ana"):
            await memory.recall("tools", user="ana")
        await memory.reindex(embed=True, users=["ana"])
        await works(memory, "ana")


@pytest.mark.backends("ledgers")
async def test_an_export_comes_in_again_with_its_vectors_or_without(backend: Backend, tmp_path: Path) -> None:
    async with at(backend, tmp_path / "a") as memory:
        await tell(memory, "ana")
        lines = list(await memory.export(user="ana", vectors=True))
    async with at(backend, tmp_path / "b") as memory:
        await memory.import_from(lines)
        await works(memory, "ana")
        await memory.import_from(lines, user="ben")
        await works(memory, "ben")
        assert (await lengths(memory, "ana"), await lengths(memory, "ben")) == ({64}, {48})


@pytest.mark.backends("ledgers")
async def test_a_snapshot_brings_every_model_back(backend: Backend, tmp_path: Path) -> None:
    async with at(backend, tmp_path / "a") as memory:
        await tell(memory, "ana", "ben")
        await memory.snapshot(tmp_path / "kept")
    into = backend.at(tmp_path / "b")
    where = into.get("database_url") or tmp_path / "b"
    await AsyncMemory.restore_snapshot(tmp_path / "kept", where)
    async with at(backend, tmp_path / "b") as memory:
        for user, dimensions in (("ana", 64), ("ben", 48)):
            await works(memory, user)
            assert await lengths(memory, user) == {dimensions}


@pytest.mark.backends("ledgers")
async def test_a_change_of_everybodys_model_leaves_them_alone(backend: Backend, tmp_path: Path) -> None:
    async with AsyncMemory.open(**backend.at(tmp_path), embedder=EVERYBODYS, embedders={"default/ana": ANAS}) as memory:
        await tell(memory, "ana", "ben")
        done = await memory.migrate_embeddings(to=HashEmbedder(dimensions=40), least_overlap=0.0)
        assert (done.switched, done.left_alone) == (True, 1)
        assert (await lengths(memory, "ana"), await lengths(memory, "ben")) == ({64}, {40})
        await works(memory, "ana")
        await works(memory, "ben")
        await memory.discard_embeddings()
        assert (await memory.doctor()).healthy
        assert await lengths(memory, "ana") == {64}


@pytest.mark.backends("ledgers")
async def test_another_model_for_everybody_in_place_is_one_for_every_tenant(backend: Backend, tmp_path: Path) -> None:
    own = {"other/ana": ANAS}
    async with AsyncMemory.open(**backend.at(tmp_path), embedder=EVERYBODYS, embedders=own) as memory:
        await tell(memory, "ana")
        await tell(other := await memory.beside("other"), "ana", "ben")
        await other.aclose()
    async with AsyncMemory.open(**backend.at(tmp_path), embedder=ACME, embedders=own, replace_vectors=True) as memory:
        other = await memory.beside("other")
        for whose, user, dimensions in ((memory, "ana", 48), (other, "ben", 48), (other, "ana", 64)):
            await works(whose, user)
            assert await lengths(whose, user) == {dimensions}
        await other.aclose()


async def test_models_by_name_are_opened_once_and_shared(tmp_path: Path) -> None:
    chosen = "acme=local, other/ana=local, other/=local"
    async with AsyncMemory.open(tmp_path, embedding_models=chosen, tenant="acme") as memory:
        own = memory._parts.own
        assert own is not None
        shared = {id(one) for one in (*own.tenants.values(), *own.users.values())}
        assert len(shared) == 1
        assert [(scope.tenant, scope.user) for scope in own.users] == [("other", "ana"), ("other", None)]


@pytest.mark.parametrize("wrong", ["acme", "=local", "/ana=local", "acme=MiniLM", {"acme": "openai:"}, 7])
def test_a_namespace_or_model_that_is_none_is_refused(wrong: object, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="embedding_models"):
        asyncio.run(_opened(tmp_path, embedding_models=wrong))


@pytest.mark.parametrize("wrong", ["", "/ana"])
def test_an_embedder_for_nobody_is_refused(wrong: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="expected TENANT"):
        asyncio.run(_opened(tmp_path, embedders={wrong: ACME}))


async def _opened(folder: Path, **settings: object) -> None:
    async with AsyncMemory.open(folder, embedder=EVERYBODYS, **settings):  # type: ignore[arg-type]
        pass
