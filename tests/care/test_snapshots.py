"""Snapshots: whole, checked, and never a way back for what was forgotten."""

import asyncio
import json
import os
from collections.abc import AsyncIterator, Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from commonplace.domain.errors import InvalidInput, NotFound, SnapshotCorrupt
from commonplace.engine.chores import Chores
from commonplace.engine.engine import Engine
from commonplace.memory import AsyncMemory
from tests.backends import Backend
from tests.care.folders import NOW, directions, forms, memory_of, traces

QUESTIONS = ("which tools do I use", "tea", "")

pytestmark = pytest.mark.backends("ledgers")


@pytest.fixture
async def memory(backend: Backend, tmp_path: Path) -> AsyncIterator[Engine]:
    async with memory_of(**backend.at(tmp_path / "memory")) as memory:
        await memory.add("I use Jxqtool and Shram as tools", user="ana", session="s1")
        await memory.add({"id": "m1", "content": "I like jxqtea"}, user="ana", session="s2", at=NOW - timedelta(days=9))
        await memory.remember("Allergic to jxqnuts", user="ana")
        await memory.set_block("profile", "A jxqblock", user="ana")
        await memory.add("I use Wkbtool as a tool", user="ben")
        yield memory


async def answers(memory: Engine, user: str) -> list[list[tuple[str, float]]]:
    return [[(one.text, one.relevance) for one in await memory.recall(ask, user=user)] for ask in QUESTIONS]


async def restored(tmp_path: Path, name: str = "latest", **settings: object) -> Path:
    into = tmp_path / "restored"
    await AsyncMemory.restore_snapshot(tmp_path / "snapshots", into, name=name, **settings)  # type: ignore[arg-type]
    return into


async def test_a_snapshot_comes_back_with_the_same_answers(memory: Engine, tmp_path: Path) -> None:
    made = await memory.snapshot(tmp_path / "snapshots")
    assert await memory.snapshots(tmp_path / "snapshots") == [made]
    assert (await memory.verify_snapshot(at=tmp_path / "snapshots")).whole
    done = await AsyncMemory.restore_snapshot(tmp_path / "snapshots", tmp_path / "restored")
    assert (done.counts, done.erased) == (made.counts, 0)
    async with memory_of(tmp_path / "restored") as again:
        for user in ("ana", "ben"):
            assert await answers(again, user) == await answers(memory, user)
        assert [block.text for block in await again.blocks(user="ana")] == ["A jxqblock"]
        assert (await again.doctor()).healthy
    modes = {path.stat().st_mode & 0o777 for path in (tmp_path / "restored").iterdir() if path.is_file()}
    assert modes == {0o600} and (tmp_path / "restored").stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize(
    ("forget", "gone", "stays"),
    [
        (lambda memory: memory.forget(user="ana"), ["jxq", "Jxq"], []),
        (lambda memory: memory.forget(whole_tenant="default"), ["jxq", "Jxq", "Wkbtool"], []),
        (lambda memory: memory.forget(user="ana", session="s1"), ["Jxqtool"], ["jxqtea"]),
        (lambda memory: memory.forget(user="ana", message="m1"), ["jxqtea"], ["Jxqtool"]),
        (lambda memory: memory.forget(user="ana", before=NOW - timedelta(days=1)), ["jxqtea"], ["Jxqtool"]),
    ],
    ids=["user", "tenant", "session", "message", "before"],
)
async def test_an_older_snapshot_does_not_bring_back_what_was_forgotten(
    memory: Engine,
    tmp_path: Path,
    forget: Callable[[Engine], "asyncio.Future[object]"],
    gone: list[str],
    stays: list[str],
) -> None:
    await memory.snapshot(tmp_path / "snapshots")
    receipt = await forget(memory)
    into = await restored(tmp_path)
    assert traces(into, forms(gone)) == []
    assert all(traces(into, forms([word])) for word in stays)
    async with memory_of(into) as again:
        assert [one.id for one in await again.receipts(user="ana")] == [
            one.id for one in await memory.receipts(user="ana")
        ]
        assert (await again.doctor()).healthy
    assert receipt is not None


async def test_a_fact_and_what_was_purged_do_not_come_back_and_later_snapshots_know_it(
    memory: Engine, tmp_path: Path
) -> None:
    first = await memory.snapshot(tmp_path / "snapshots")
    (fact,) = [one for one in await memory.facts(user="ana") if "nuts" in one.text]
    await memory.forget(user="ana", fact=fact.id)
    second = await memory.snapshot(tmp_path / "snapshots")
    assert len(second.erasures) == 1
    assert traces(await restored(tmp_path, first.name), forms(["jxqnuts"])) == []
    done = await AsyncMemory.restore_snapshot(tmp_path / "snapshots", tmp_path / "second", name=second.name)
    assert done.erased == 0


async def test_a_user_released_and_forgotten_after_the_snapshot_does_not_come_back(
    memory: Engine, tmp_path: Path
) -> None:
    await memory.hold(user="ana")
    await memory.snapshot(tmp_path / "snapshots")
    await memory.release(user="ana")
    await memory.forget(user="ana")
    assert traces(await restored(tmp_path), forms(["jxq"])) == []


@pytest.mark.parametrize("named", [{"user": "ana"}, {"whole_tenant": "default"}])
async def test_a_place_that_cannot_be_told_is_named_in_the_receipt(
    memory: Engine, tmp_path: Path, named: dict[str, Any]
) -> None:
    await memory.snapshot(tmp_path / "snapshots")
    (tmp_path / "snapshots" / "erasures").write_text("in the way")
    receipt = await memory.forget(**named)
    assert ["could not be told" in note for note in receipt.notes].count(True) == 1
    (tmp_path / "snapshots" / "erasures").unlink()
    await memory.snapshot(tmp_path / "snapshots")
    forgotten = 1 if "user" in named else receipt.counts["ledger"]["users"]
    assert len(list((tmp_path / "snapshots" / "erasures").iterdir())) == forgotten


async def test_without_its_manifest_it_is_no_snapshot_and_is_cleaned_up(memory: Engine, tmp_path: Path) -> None:
    made = await memory.snapshot(tmp_path / "snapshots")
    folder = tmp_path / "snapshots" / "snapshots" / made.name
    broken_off = folder.with_name("20200101T000000Z-aaaaaaaa")
    folder.rename(broken_off)
    (broken_off / "manifest.json").unlink()
    assert await memory.snapshots(tmp_path / "snapshots") == []
    with pytest.raises(NotFound):
        await memory.verify_snapshot(at=tmp_path / "snapshots")
    pruned = await memory.prune_snapshots(at=tmp_path / "snapshots", keep=1)
    assert pruned.unfinished == (broken_off.name,)
    assert not broken_off.exists()


@pytest.mark.parametrize("file", ["part-00000.jsonl.gz", "manifest.json"])
async def test_one_flipped_bit_is_found(memory: Engine, tmp_path: Path, file: str) -> None:
    made = await memory.snapshot(tmp_path / "snapshots")
    damaged = tmp_path / "snapshots" / "snapshots" / made.name / file
    data = bytearray(damaged.read_bytes())
    data[len(data) // 2] ^= 1
    damaged.write_bytes(data)
    if file == "manifest.json":
        with pytest.raises(SnapshotCorrupt, match="manifest"):
            await memory.verify_snapshot(made.name, at=tmp_path / "snapshots")
    else:
        assert not (await memory.verify_snapshot(made.name, at=tmp_path / "snapshots")).whole
    with pytest.raises(SnapshotCorrupt):
        await restored(tmp_path, made.name)
    assert {*os.listdir(tmp_path)} <= {"memory", "snapshots"}


async def test_a_missing_part_is_found(memory: Engine, tmp_path: Path) -> None:
    made = await memory.snapshot(tmp_path / "snapshots")
    (tmp_path / "snapshots" / "snapshots" / made.name / made.parts[0].name).unlink()
    assert "is not there" in (await memory.verify_snapshot(at=tmp_path / "snapshots")).problems[0]


async def test_what_is_encrypted_is_read_with_its_key_only(backend: Backend, tmp_path: Path) -> None:
    place, key = tmp_path / "snapshots", tmp_path / "key"
    key.write_bytes(b"k" * 32)
    given = {**backend.at(tmp_path / "memory"), "embedder": directions}
    async with AsyncMemory.open(snapshot_passphrase="correct horse", **given) as memory:
        await memory.add("I use Jxqtool", user="ana")
        made = await memory.snapshot(place)
        assert made.encrypted and traces(place, forms(["jxq"])) == []
        assert (await memory.verify_snapshot(at=place)).whole
    for wrong in ({}, {"snapshot_passphrase": "wrong"}, {"snapshot_key_file": key}):
        with pytest.raises(InvalidInput, match="encrypted|does not fit"):
            await AsyncMemory.restore_snapshot(place, tmp_path / "restored", **wrong)
    assert not (tmp_path / "restored").exists()
    into = await restored(tmp_path, snapshot_passphrase="correct horse")
    async with memory_of(into) as again:
        assert len(await again.messages(user="ana")) == 1
    async with AsyncMemory.open(snapshot_key_file=key, **given) as memory:
        second = await memory.snapshot(place)
    await AsyncMemory.restore_snapshot(place, tmp_path / "by-key", name=second.name, snapshot_key_file=key)


async def test_every_write_acknowledged_before_it_began_is_in_it_while_others_go_on(
    backend: Backend, tmp_path: Path
) -> None:
    async with memory_of(**backend.at(tmp_path / "memory")) as memory:
        told: list[str] = []
        enough = asyncio.Event()

        async def tell() -> None:
            while not enough.is_set():
                told.extend((await memory.add(f"I saw bird {len(told)}", user="ana")).messages)

        writing = asyncio.create_task(tell())
        while len(told) < 30:  # noqa: ASYNC110 - the writer tells nobody
            await asyncio.sleep(0.01)
        before = list(told)
        made = await memory.snapshot(tmp_path / "snapshots")
        enough.set()
        await writing
        assert len(told) > len(before)
        assert made.counts["messages"] >= len(before)
    async with memory_of(await restored(tmp_path)) as again:
        ids = {message.id for message in await again.messages(user="ana", limit=10_000)}
        assert set(before) <= ids and len(ids) == made.counts["messages"]


async def test_only_an_empty_place_is_restored_into(memory: Engine, tmp_path: Path) -> None:
    await memory.snapshot(tmp_path / "snapshots")
    (tmp_path / "restored").mkdir()
    (tmp_path / "restored" / "x").write_text("mine")
    with pytest.raises(InvalidInput, match="empty folder"):
        await restored(tmp_path)
    (tmp_path / "restored" / "x").unlink()
    await restored(tmp_path)
    url = f"sqlite:///{tmp_path}/restored/ledger.db".replace("///", "////", 1)
    with pytest.raises(InvalidInput, match="holds something already"):
        await AsyncMemory.restore_snapshot(tmp_path / "snapshots", url)


async def test_the_latest_stays_and_older_ones_go(backend: Backend, tmp_path: Path) -> None:
    names: list[str] = []
    for day in range(4):
        async with memory_of(**backend.at(tmp_path / "memory"), now=NOW + timedelta(days=day)) as memory:
            names.append((await memory.snapshot(tmp_path / "snapshots")).name)
            if day == 3:
                pruned = await memory.prune_snapshots(at=tmp_path / "snapshots", keep=1, older_than_days=2)
                assert pruned.removed == (names[0],)
                assert (await memory.prune_snapshots(at=tmp_path / "snapshots", keep=2)).kept == tuple(names[2:])
                with pytest.raises(InvalidInput, match="nothing is named"):
                    await memory.prune_snapshots(at=tmp_path / "snapshots")


async def test_a_worker_makes_them_in_turn_and_keeps_some(backend: Backend, tmp_path: Path) -> None:
    settings: dict[str, object] = {
        "snapshot_to": str(tmp_path / "snapshots"),
        "snapshot_interval": 60,
        "snapshot_keep": 1,
    }
    async with AsyncMemory.open(**backend.at(tmp_path / "memory"), embedder=directions, **settings) as memory:  # type: ignore[arg-type]
        assert "snapshot" in await Chores(memory._parts, memory._chores()).once()
        assert "snapshot" not in await Chores(memory._parts, memory._chores()).once()
        await memory._scheduled_snapshot()
        assert len(await memory.snapshots()) == 1


async def test_a_newer_form_is_refused(memory: Engine, tmp_path: Path) -> None:
    made = await memory.snapshot(tmp_path / "snapshots")
    manifest = tmp_path / "snapshots" / "snapshots" / made.name / "manifest.json"
    body = json.loads(manifest.read_text())
    manifest.write_text(json.dumps(body | {"format": 99}))
    with pytest.raises(SnapshotCorrupt, match="was changed"):
        await memory.snapshots(tmp_path / "snapshots")


@pytest.mark.parametrize("step", ["Restoring", "Forgetting what was forgotten since"])
async def test_a_restore_that_was_broken_off_is_done_when_it_is_asked_for_again(
    memory: Engine, backend: Backend, tmp_path: Path, step: str
) -> None:
    added = await memory.add([f"We saw bird {n}" for n in range(300)], user="zoe", learn=False)
    made = await memory.snapshot(tmp_path / "snapshots")
    for message in added.messages[:2]:
        await memory.forget(user="zoe", message=message)

    def broken_off(what: str, done: int, _: int | None) -> None:
        if what == step and done:
            raise InterruptedError

    into = backend.named(tmp_path / "back")
    with pytest.raises(InterruptedError):
        await AsyncMemory.restore_snapshot(tmp_path / "snapshots", into, progress=broken_off)
    restored = await AsyncMemory.restore_snapshot(tmp_path / "snapshots", into)
    assert (restored.counts["messages"], restored.erased) == (made.counts["messages"], 2)
    async with memory_of(**backend.at(tmp_path / "back")) as back:
        assert tuple(one.id for one in await back.messages(user="zoe", limit=400)) == added.messages[2:]
        assert len(await back.receipts(user="zoe")) == 2
        assert (await back.doctor()).healthy
