"""Files that messages carry: found with their message, kept apart by user, and gone when they are forgotten."""

import json
import os
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from commonplace import AsyncMemory
from commonplace.adapters.hashing import HashEmbedder
from commonplace.domain.errors import InvalidInput, NotFound, StoreUnavailable
from commonplace.domain.progress import unseen
from commonplace.domain.receipts import Part
from commonplace.domain.scope import Scope
from commonplace.domain.values import MessageId
from commonplace.ports.embedder import Vectors
from commonplace.ports.erasure import Removal
from commonplace.wiring import Location, moved
from tests.backends import Backend

NOTES = b"# Trip\n\nThe ferry to Quillon leaves at seven from the northern pier."
PNG = b"\x89PNG\r\n\x1a\n"
FOLDERS = ("ledger.db.attachments", "attachments")
"""Beside the ledger, where that is a file; else in the memory's folder."""

pytestmark = pytest.mark.backends("ledgers")


@pytest.fixture
async def memory(backend: Backend, tmp_path: Path) -> AsyncIterator[AsyncMemory]:
    async with AsyncMemory.open(**backend.at(tmp_path / "memory"), embedder=HashEmbedder()) as memory:
        yield memory


def files(folder: Path) -> list[Path]:
    return [path for name in FOLDERS for path in (folder / name).rglob("*") if path.is_file()]


def bytes_of(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


async def test_a_file_is_found_by_what_it_says_with_its_message_as_the_result(memory: AsyncMemory) -> None:
    notes = {"data": NOTES, "name": "trip.md", "caption": "plans for the archipelago"}
    (message,) = (await memory.add("Have a look at this", user="u", attachments=[notes])).messages
    (found,) = await memory.recall("when does the ferry to Quillon leave", user="u")
    assert (found.id, found.text) == (message, "Have a look at this")
    assert found.passage is not None
    assert found.passage.startswith("[trip.md] # Trip")
    (attachment,) = found.attachments
    assert (attachment.name, attachment.type, attachment.size) == ("trip.md", "text/markdown", len(NOTES))
    assert attachment.text == ""
    assert [one.id for one in await memory.recall("archipelago plans", user="u")] == [message]
    assert "Quillon" in str(await memory.context("the ferry to Quillon", user="u"))
    assert await memory.read_attachment(attachment.id, user="u") == NOTES


async def test_a_long_file_is_found_by_any_of_its_passages(memory: AsyncMemory) -> None:
    lines = [f"Entry {n}: nothing happened at all on that day in the village by the river." for n in range(400)]
    lines[317] = "Entry 317: somebody painted the weathercock purple."
    await memory.add("My diary", user="u", attachments=[{"data": "\n".join(lines).encode(), "name": "diary.txt"}])
    (found,) = await memory.recall("who painted the weathercock", user="u")
    assert found.passage is not None
    assert "purple" in found.passage
    assert len(found.passage) < 2_000


async def test_nothing_is_learned_from_a_file(memory: AsyncMemory) -> None:
    await memory.add("A letter of my sister", user="u", attachments=[{"data": b"I live in Oslo. I love tea."}])
    assert list(await memory.facts(user="u")) == []


@pytest.mark.parametrize(
    ("data", "name", "unseen"),
    [
        (b"<html><head><style>zebra{}</style></head><body><p>The heron<script>zebra()</script></p>", "a.html", "zebra"),
        (b'{"animal": "heron"}', "a.json", "zebra"),
        (b"animal,count\nheron,4\n", "a.csv", "zebra"),
        ("Der Reiher heißt heron".encode("utf-16"), "a.txt", "zebra"),
    ],
)
async def test_text_is_read_out_of_many_kinds_of_files(
    memory: AsyncMemory, data: bytes, name: str, unseen: str
) -> None:
    await memory.add("See the file", user="u", attachments=[{"data": data, "name": name}])
    assert len(await memory.recall("heron", user="u")) == 1
    assert await memory.recall(unseen, user="u") == []


class Colours:
    """An embedder of words and of images that are one colour, with the name of the colour in their last bytes."""

    identity, dimensions = "colours/1", 32

    def __init__(self) -> None:
        self._words = HashEmbedder(dimensions=32)

    async def embed(self, texts: Sequence[str]) -> Vectors:
        return await self._words.embed(texts)

    async def embed_images(self, images: Sequence[bytes]) -> Vectors:
        return np.stack([(await self._words.embed([image[len(PNG) :].decode()]))[0] for image in images])


async def test_an_image_is_found_by_words_where_the_embedder_takes_images(backend: Backend, tmp_path: Path) -> None:
    async with AsyncMemory.open(**backend.at(tmp_path / "memory"), embedder=Colours(), min_relevance=0) as memory:
        for colour in ("crimson", "turquoise"):
            await memory.add("Look", user="u", attachments=[PNG + colour.encode()], metadata={"colour": colour})
        (best, *_) = await memory.recall("turquoise", user="u", explain=True)
        assert best.metadata == {"colour": "turquoise"}
        assert best.why is not None
        assert set(best.why.arms) == {"dense", "context"}
        export = str(await memory.export(user="u"))
        await memory.reindex(embed=True)
        assert (await memory.recall("crimson", user="u"))[0].metadata == {"colour": "crimson"}
    async with AsyncMemory.open(**backend.at(tmp_path / "other"), embedder=Colours(), min_relevance=0) as other:
        await other.import_from(export.splitlines())
        assert (await other.recall("crimson", user="u"))[0].metadata == {"colour": "crimson"}
    async with AsyncMemory.open(
        **backend.at(tmp_path / "memory"), embedder=HashEmbedder(), replace_vectors=True
    ) as without:
        assert len(await without.recall("look", user="u")) > 0


async def test_nobody_reaches_the_file_of_somebody_else(memory: AsyncMemory, tmp_path: Path) -> None:
    await memory.add("Mine", user="ana", attachments=[NOTES])
    ((attachment,),) = [one.attachments for one in await memory.messages(user="ana")]
    for call in (memory.attachment, memory.read_attachment):
        with pytest.raises(NotFound):
            await call(attachment.id, user="ben")
    with pytest.raises(NotFound):
        await memory.add("Yours", user="ben", attachments=[{"id": attachment.id}])
    assert list(await memory.messages(user="ben")) == []
    await memory.add("Mine, too", user="ben", attachments=[NOTES])
    assert len(files(tmp_path / "memory")) == 2
    await memory.forget(user="ana")
    assert await memory.read_attachment(attachment.id, user="ben") == NOTES
    with pytest.raises(NotFound):
        await memory.read_attachment(attachment.id, user="ana")


async def test_a_forgotten_file_leaves_no_byte_and_what_another_message_has_is_kept(
    memory: AsyncMemory, tmp_path: Path
) -> None:
    for id_ in ("m1", "m2"):
        await memory.add({"content": "One of two", "id": id_, "attachments": [NOTES]}, user="u")
    await memory.add({"content": "Alone", "id": "m3", "attachments": [PNG + b"qzvsecret"]}, user="u")
    assert len(files(tmp_path / "memory")) == 2
    receipt = await memory.forget(user="u", message="m1")
    assert receipt.counts["ledger"]["attachments"] == 1
    assert len(files(tmp_path / "memory")) == 2
    await memory.forget(user="u", message="m3")
    assert b"qzvsecret" not in bytes_of(tmp_path / "memory")
    assert b"Quillon" in bytes_of(tmp_path / "memory")
    await memory.forget(user="u", message="m2")
    assert files(tmp_path / "memory") == []
    assert b"Quillon" not in bytes_of(tmp_path / "memory")


async def test_a_forget_that_was_cut_short_takes_the_files_when_the_memory_is_opened(
    backend: Backend, tmp_path: Path
) -> None:
    async with AsyncMemory.open(**backend.at(tmp_path / "memory"), embedder=HashEmbedder()) as memory:
        await memory.add({"content": "Secret", "id": "m1", "attachments": [NOTES]}, user="u")
        removal = Removal(id="e", what=Part(message=MessageId("m1")), at=datetime.now(UTC), messages=[MessageId("m1")])
        await memory._parts.ledger.erase(Scope("default", "u"), removal)
        assert len(files(tmp_path / "memory")) == 1
    async with AsyncMemory.open(**backend.at(tmp_path / "memory"), embedder=HashEmbedder()) as memory:
        assert files(tmp_path / "memory") == []
        assert len(await memory.receipts(user="u")) == 1


async def test_an_export_carries_the_files_and_an_import_brings_them(
    memory: AsyncMemory, backend: Backend, tmp_path: Path
) -> None:
    large = b"\xff\xd8\xff" + bytes(range(256)) * 3_000
    await memory.add("Two files", user="u", attachments=[NOTES, large])
    export = str(await memory.export(user="u"))
    async with AsyncMemory.open(**backend.at(tmp_path / "other"), embedder=HashEmbedder()) as other:
        imported = await other.import_from(export.splitlines())
        assert (imported.added["files"], imported.bad) == (2, ())
        (message,) = await other.messages(user="u")
        read = [await other.read_attachment(one.id, user="u") for one in message.attachments]
        assert read == [NOTES, large]
        assert len(await other.recall("ferry to Quillon", user="u")) == 1
        twice = await other.import_from(export.splitlines())
        assert (twice.added, twice.known["files"]) == ({}, 2)
        await other.forget(user="u")
        again = await other.import_from(export.splitlines())
        assert (again.added, again.forgotten["messages"]) == ({}, 1)
        assert files(tmp_path / "other") == []


async def test_a_file_that_was_changed_on_its_way_is_refused(
    memory: AsyncMemory, backend: Backend, tmp_path: Path
) -> None:
    await memory.add("A file", user="u", attachments=[NOTES])
    lines = [json.loads(line) for line in str(await memory.export(user="u")).splitlines()]
    changed = [{**one, "data": "AAAA"} if one["type"] == "file" else one for one in lines]
    outside = [{**one, "id": "../../ledger.db"} if one["type"] == "file" else one for one in lines]
    for name, bad in (("changed", changed), ("outside", outside)):
        async with AsyncMemory.open(**backend.at(tmp_path / name), embedder=HashEmbedder()) as other:
            imported = await other.import_from([json.dumps(one) for one in bad])
            assert len(imported.bad) == 1
            assert [one.check for one in (await other.doctor()).findings] == ["attachments"]
    with pytest.raises(InvalidInput, match="64 hexadecimal"):
        await memory.read_attachment("../ledger.db", user="u")


async def test_a_snapshot_has_the_files_and_does_not_bring_back_a_forgotten_one(
    memory: AsyncMemory, backend: Backend, tmp_path: Path
) -> None:
    await memory.add({"content": "Kept", "id": "m1", "attachments": [NOTES]}, user="u")
    await memory.add({"content": "Forgotten", "id": "m2", "attachments": [PNG + b"qzvsecret"]}, user="u")
    await memory.snapshot(tmp_path / "snapshots")
    assert (await memory.verify_snapshot(at=tmp_path / "snapshots")).problems == ()
    await memory.forget(user="u", message="m2")
    home: dict[str, Any] = {} if backend.ledger == "sqlite" else {"home": tmp_path / "back"}
    await AsyncMemory.restore_snapshot(tmp_path / "snapshots", backend.named(tmp_path / "back"), **home)
    assert b"qzvsecret" not in bytes_of(tmp_path / "back")
    async with AsyncMemory.open(**backend.at(tmp_path / "back"), embedder=HashEmbedder()) as back:
        (message,) = await back.messages(user="u")
        assert await back.read_attachment(message.attachments[0].id, user="u") == NOTES
        assert (await back.doctor()).findings == ()


async def test_a_move_to_another_database_takes_the_files_along_and_back(backend: Backend, tmp_path: Path) -> None:
    async with AsyncMemory.open(tmp_path / "memory", embedder=HashEmbedder()) as memory:
        await memory.add("A file", user="u", attachments=[NOTES])
    places = [tmp_path / "memory", backend.named(tmp_path / "there"), tmp_path / "back"]
    home: dict[str, Any] = {"home": tmp_path / "there"}
    for source, target in pairwise(places):
        await moved(Location.parse(source), Location.parse(target), home, in_use=False, progress=unseen)
        given = {} if isinstance(target, Path) else home
        async with AsyncMemory.open(target, **given, embedder=HashEmbedder()) as there:
            (message,) = await there.messages(user="u")
            assert await there.read_attachment(message.attachments[0].id, user="u") == NOTES
            assert (await there.doctor()).findings == ()


async def test_a_move_that_finds_no_file_is_refused_and_goes_on_when_it_is_there(
    memory: AsyncMemory, backend: Backend, tmp_path: Path
) -> None:
    (message,) = (await memory.add("A file", user="u", attachments=[NOTES])).messages
    source, home = backend.named(tmp_path / "memory"), {"home": tmp_path / "memory"}
    (file,) = files(tmp_path / "memory")
    aside = file.rename(tmp_path / "aside")
    places = Location.parse(source), Location.parse(tmp_path / "moved")
    for _ in range(2):
        with pytest.raises(StoreUnavailable, match=rf"{file.name} of user 'u' of .* has no file in .*attachments: "):
            await moved(*places, home, progress=unseen)
    lacking = await moved(places[0], Location.parse(tmp_path / "lacking"), home, without_lost=True, progress=unseen)
    assert (lacking.counts["messages"], lacking.lost_files) == (1, 1)
    aside.rename(file)
    done = await moved(*places, home, progress=unseen)
    assert (done.resumed, done.lost_files) == (True, 0)
    async with AsyncMemory.open(tmp_path / "moved", embedder=HashEmbedder()) as there:
        (attachment,) = (await there.message(message, user="u")).attachments
        assert await there.read_attachment(attachment.id, user="u") == NOTES


async def test_a_file_that_had_arrived_before_its_message_was_forgotten_is_gone_when_the_move_goes_on(
    memory: AsyncMemory, backend: Backend, tmp_path: Path
) -> None:
    (message,) = (await memory.add("A file", user="u", attachments=[b"qzvsecret"])).messages
    source, home = backend.named(tmp_path / "memory"), {"home": tmp_path / "memory"}
    places = Location.parse(source), Location.parse(tmp_path / "moved")

    def interrupt(what: str, done: int, total: int | None) -> None:
        if what == "Moving" and files(tmp_path / "moved"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        await moved(*places, home, progress=interrupt)
    assert b"qzvsecret" in bytes_of(tmp_path / "moved" / "ledger.db.attachments")
    await memory.forget(user="u", message=message)
    assert (await moved(*places, home, progress=unseen)).resumed
    assert files(tmp_path / "moved") == []


async def test_a_snapshot_and_an_export_say_that_files_are_left_out(
    memory: AsyncMemory, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    await memory.add("Two files", user="u", attachments=[NOTES, b"and this"])
    for file in files(tmp_path / "memory"):
        file.unlink()
    await memory.snapshot(tmp_path / "snapshots")
    await memory.export(user="u")
    told = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert [f"no file in {tmp_path / 'memory'}" in one for one in told] == [True, True]


async def test_the_doctor_finds_files_that_are_missing_and_files_that_are_nobodys(
    memory: AsyncMemory, tmp_path: Path
) -> None:
    await memory.add("A file", user="u", attachments=[NOTES])
    waiting = await memory.attach(b"for a message that never came", user="u")
    (lost, left) = sorted(files(tmp_path / "memory"), key=lambda path: path.name == waiting.id)
    stranger = await memory.attach(b"of somebody who never said anything", user="nobody")
    assert (await memory.doctor()).findings == ()
    for path in files(tmp_path / "memory"):
        os.utime(path, (0, 0))
    lost.unlink()
    missing, orphans = (await memory.doctor(repair=True)).findings
    assert (missing.check, missing.severity, missing.repaired) == ("attachments", "error", False)
    assert orphans.message == "2 files belong to no message"
    assert not left.exists()
    assert [path.name for path in files(tmp_path / "memory") if path.name == stranger.id] == []


async def test_what_may_not_be_attached_is_refused_and_leaves_nothing(backend: Backend, tmp_path: Path) -> None:
    opening = AsyncMemory.open(
        **backend.at(tmp_path / "memory"),
        embedder=HashEmbedder(),
        attachment_bytes=100,
        attachment_types="image/*,text/*",
    )
    async with opening as memory:
        refused: list[tuple[Any, str]] = [
            (b"x" * 101, "more than 100 bytes"),
            (b"", "has no bytes"),
            (b"\0\1\2", "application/octet-stream is not allowed"),
            ({"data": b"hello", "type": "image/png"}, "not those of such a file"),
            ({"data": b"hello", "type": "nonsense"}, "expected a media type"),
            ({"path": "/etc/passwd"}, "expected a Path"),
            ({"name": "x"}, "expected one of path, data and id"),
            ({"data": b"x", "url": "http://x"}, "unknown keys"),
            ({"data": b"x", "caption": "x" * 5_000}, "at most 4,000"),
            ("/etc/passwd", "expected a Path, bytes"),
            (tmp_path / "nothing.txt", "No such file"),
            ({"id": "../../etc"}, "64 hexadecimal"),
        ]
        for attachment, said in refused:
            with pytest.raises(InvalidInput, match=said):
                await memory.add("Look", user="u", attachments=[b"fine", attachment])
        with pytest.raises(InvalidInput, match="at most 20"):
            await memory.add("Look", user="u", attachments=[b"x"] * 21)
        with pytest.raises(InvalidInput, match="there are 2 messages"):
            await memory.add(["Look", "there"], user="u", attachments=[b"x"])
        assert list(await memory.messages(user="u")) == []
        assert files(tmp_path / "memory") == []


async def test_a_message_that_is_known_takes_no_other_file(memory: AsyncMemory, tmp_path: Path) -> None:
    for data in (NOTES, b"another"):
        await memory.add({"content": "Once", "id": "m1", "attachments": [data]}, user="u")
    (message,) = await memory.messages(user="u")
    assert [one.size for one in message.attachments] == [len(NOTES)]
    assert len(files(tmp_path / "memory")) == 1


async def test_a_file_can_be_kept_first_and_attached_later(memory: AsyncMemory, tmp_path: Path) -> None:
    async def chunks() -> AsyncIterator[bytes]:
        for start in range(0, len(NOTES), 7):
            yield NOTES[start : start + 7]

    kept = await memory.attach(chunks(), user="u", name="trip.md")
    with pytest.raises(NotFound):
        await memory.read_attachment(kept.id, user="u")
    offer = {"id": kept.id, "name": kept.name, "caption": "plans"}
    await memory.add("See this", user="u", attachments=[offer])
    (found,) = await memory.recall("ferry to Quillon", user="u")
    assert (found.attachments[0].type, found.attachments[0].caption) == ("text/markdown", "plans")
    await memory.save_attachment(kept.id, tmp_path / "copy.md", user="u")
    assert (tmp_path / "copy.md").read_bytes() == NOTES
    assert (tmp_path / "copy.md").stat().st_mode & 0o777 == 0o600


@pytest.mark.backends("files")  # PostgreSQL has no key for its ledger
async def test_in_an_encrypted_memory_files_are_encrypted_too(backend: Backend, tmp_path: Path) -> None:
    pytest.importorskip("sqlcipher3", reason="needs sqlcipher3")
    large = NOTES * 40_000
    opening = AsyncMemory.open(**backend.at(tmp_path / "memory"), embedder=HashEmbedder(), ledger_key="a passphrase")
    async with opening as memory:
        await memory.add("Secret", user="u", attachments=[NOTES, large])
        assert b"Quillon" not in bytes_of(tmp_path / "memory")
        (message,) = await memory.messages(user="u")
        read = [await memory.read_attachment(one.id, user="u") for one in message.attachments]
        assert read == [NOTES, large]
        small, big = sorted(files(tmp_path / "memory"), key=lambda path: path.stat().st_size)
        big.write_bytes(big.read_bytes()[: 1_048_576 + 32])
        with pytest.raises(InvalidInput):
            await memory.read_attachment(message.attachments[1].id, user="u")
