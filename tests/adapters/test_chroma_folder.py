"""What a Chroma folder survives: being reopened, deleted, damaged, shared, and left by an owner that was killed."""

import contextlib
import logging
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from commonplace.adapters.chroma.folder import OURS
from commonplace.adapters.chroma.index import ChromaIndex, Embedded, lock_of
from commonplace.domain.errors import IndexUnavailable
from commonplace.ports.apart import apart
from commonplace.ports.ledger import Vector
from tests.contracts.vector_index import ANA, BEN, axis, cloud, found

MORE_THAN_IT_BUFFERS = 1_300
"""Chroma writes its vector files every 1,000 rows."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "memory" / "chroma"


def opened(folder: Path) -> ChromaIndex:
    return ChromaIndex(Embedded(folder))


async def filled(folder: Path, *, rows: int = MORE_THAN_IT_BUFFERS) -> str:
    """Make a folder with two collections, one of them large. Returns the identity of that one."""
    async with opened(folder) as index:
        await index.upsert(ANA, cloud(rows))
        await index.upsert(BEN, {1: axis(0)})
        return await index.identity(ANA)


def modes(folder: Path) -> dict[str, str]:
    return {str(path): oct(path.stat().st_mode & 0o777) for path in folder.rglob("*")}


def vector_files(folder: Path, name: str) -> list[Path]:
    return sorted(folder.glob(f"*/{name}"))


async def test_what_was_upserted_is_found_after_reopening(folder: Path) -> None:
    before, rows = await filled(folder), cloud(MORE_THAN_IT_BUFFERS)
    async with opened(folder) as index:
        await index.remove(ANA, [1, 2])
        await index.upsert(ANA, {5_000: rows[1]})
    async with opened(folder) as index:
        assert await index.identity(ANA) == before
        assert await index.numbers(ANA) == (rows.keys() | {5_000}) - {1, 2}
        assert await found(index, ANA, rows[1], limit=1) == [5_000]
        lost = [n for n in range(3, MORE_THAN_IT_BUFFERS + 1) if await found(index, ANA, rows[n], limit=1) != [n]]
        assert lost == []


async def test_everything_in_it_is_private_to_the_user(folder: Path) -> None:
    async with opened(folder) as index:
        await index.upsert(ANA, cloud(MORE_THAN_IT_BUFFERS))
        await index.upsert(BEN, {1: axis(0)})
        assert {path: mode for path, mode in modes(folder.parent).items() if mode not in ("0o700", "0o600")} == {}


async def test_it_is_given_no_text_and_no_metadata(folder: Path) -> None:
    await filled(folder, rows=5)
    with closing(sqlite3.connect(folder / "chroma.sqlite3")) as database:
        assert database.execute("select count(*) from embedding_metadata").fetchone() == (0,)
        assert database.execute("select count(*) from embeddings").fetchone() == (6,)


async def test_a_folder_deleted_meanwhile_is_made_anew(folder: Path) -> None:
    before = await filled(folder, rows=5)
    shutil.rmtree(folder)
    async with opened(folder) as index:
        assert await index.collections() == {}
        assert await index.identity(ANA) != before


async def test_a_folder_deleted_under_an_open_index_is_noticed_before_it_gives_a_wrong_answer(folder: Path) -> None:
    await filled(folder, rows=5)
    async with opened(folder) as index:
        before = await index.identity(ANA)
        shutil.rmtree(folder)
        with pytest.raises(IndexUnavailable, match="removed"):
            await index.search(ANA, axis(0), limit=1)
        assert await index.identity(ANA) != before
        await index.upsert(ANA, {9: axis(0)})
        assert await index.numbers(ANA) == {9}


def cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def scribble(path: Path) -> None:
    with path.open("r+b") as file:
        file.write(b"\xff" * 200)


@pytest.mark.parametrize("damage", [cut, scribble])
async def test_a_damaged_database_is_replaced_by_an_empty_one(
    folder: Path, damage: Callable[[Path], None], caplog: pytest.LogCaptureFixture
) -> None:
    before = await filled(folder)
    damage(folder / "chroma.sqlite3")
    with caplog.at_level(logging.WARNING):
        async with opened(folder) as index:
            for _ in range(2):
                try:
                    assert await index.identity(ANA) != before
                except IndexUnavailable:
                    continue
            await index.upsert(ANA, {1: axis(0)})
            assert await index.collections() == {ANA: 1}
    assert "built anew" in caplog.text


async def test_a_database_damaged_while_it_is_open_is_replaced_too(folder: Path) -> None:
    await filled(folder, rows=5)
    async with opened(folder) as index:
        before = await index.identity(ANA)
        with closing(sqlite3.connect(folder / "chroma.sqlite3")) as database:
            database.execute("drop table embeddings")
        with pytest.raises(IndexUnavailable):
            await index.numbers(ANA)
        with pytest.raises(IndexUnavailable):
            await index.search(ANA, axis(0), limit=1, identity=before)
        await index.upsert(ANA, {1: axis(0)})
        assert await index.collections() == {ANA: 1}


@pytest.mark.parametrize("damage", [cut, scribble, Path.unlink])
async def test_damaged_vector_files_cost_one_collection_and_not_the_others(
    folder: Path, damage: Callable[[Path], None]
) -> None:
    before = await filled(folder)
    (path,) = vector_files(folder, "index_metadata.pickle")
    damage(path if damage is not Path.unlink else path.with_name("link_lists.bin"))
    async with opened(folder) as index:
        assert await found(index, BEN, axis(0)) == [1]
        with pytest.raises(IndexUnavailable):
            await index.search(ANA, cloud(1)[1], limit=1)
        assert await index.numbers(ANA) == frozenset()
        assert await index.identity(ANA) != before
        assert await found(index, BEN, axis(0)) == [1]


async def test_a_dropped_collection_leaves_no_vector_files(folder: Path) -> None:
    await filled(folder)
    async with opened(folder) as index:
        assert len(vector_files(folder, "data_level0.bin")) == 2
        await index.drop(ANA)
        assert len(vector_files(folder, "data_level0.bin")) == 1
        assert await found(index, BEN, axis(0)) == [1]


async def test_a_torn_file_that_claims_to_be_huge_is_removed_like_any_other(folder: Path) -> None:
    """A killed process left one of 143 GB, nearly all of it a hole."""
    await filled(folder)
    for path in vector_files(folder, "link_lists.bin"):
        os.truncate(path, 143 << 30)
    async with opened(folder) as index:
        await index.drop(ANA)
        await index.drop(BEN)
        assert vector_files(folder, "link_lists.bin") == []


async def test_what_is_erased_is_in_no_file_and_the_others_stay(folder: Path) -> None:
    rows = cloud(MORE_THAN_IT_BUFFERS)
    kept, erased = {n: -row for n, row in rows.items()}, rows
    async with opened(folder) as index:
        await index.upsert(ANA, erased)
        await index.upsert(BEN, kept)
        stays = await index.identity(BEN)
        written = apart([*erased], np.stack([*erased.values()]))
        assert traces(folder, written) > 100
        assert await index.erase(ANA) == 0
        assert traces(folder, written) == 0
        assert await index.identity(BEN) == stays
        assert await found(index, BEN, kept[7], limit=1) == [7]
        assert await index.numbers(BEN) == kept.keys()


async def test_an_erasure_that_fails_says_so_and_the_index_recovers(folder: Path) -> None:
    await filled(folder, rows=5)
    async with opened(folder) as index:
        assert await index.numbers(BEN) == {1}
        with closing(sqlite3.connect(folder / "chroma.sqlite3")) as database:
            database.execute("begin")
            database.execute("select count(*) from collections").fetchall()
            with pytest.raises(IndexUnavailable):
                await index.erase(ANA)
        with contextlib.suppress(IndexUnavailable):
            await index.erase(ANA)
        assert await index.erase(ANA) == 0
        assert await index.numbers(BEN) == {1}


def traces(folder: Path, vectors: Vector) -> int:
    """Count vectors whose bytes are in the files: whole, or scaled to unit length, as the graph keeps them."""
    content = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    scaled = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return sum(content.count(row.tobytes()[8:40]) for row in (*vectors, *scaled))


def somebody_elses(folder: Path) -> Path:
    folder.mkdir(parents=True)
    (folder / "chroma.sqlite3").write_text("somebody's only copy")
    return folder / "chroma.sqlite3"


async def test_a_folder_with_other_peoples_files_is_refused_and_left_alone(folder: Path) -> None:
    theirs = somebody_elses(folder)
    async with opened(folder) as index:
        with pytest.raises(IndexUnavailable, match="folder of its own"):
            await index.upsert(ANA, {1: axis(0)})
    assert os.listdir(folder) == [theirs.name]
    assert theirs.read_text() == "somebody's only copy"


async def test_a_folder_that_cannot_be_made_is_an_error_with_its_cause(tmp_path: Path) -> None:
    (tmp_path / "chroma").write_text("a file")
    async with opened(tmp_path / "chroma") as index:
        with pytest.raises(IndexUnavailable) as caught:
            await index.numbers(ANA)
    assert isinstance(caught.value.__cause__, OSError)


async def test_a_vector_of_another_size_is_refused_and_nothing_is_lost(folder: Path) -> None:
    async with opened(folder) as index:
        await index.upsert(ANA, {1: axis(0)})
        with pytest.raises(IndexUnavailable):
            await index.upsert(ANA, {2: np.ones(3, np.float32)})
        assert await found(index, ANA, axis(0)) == [1]


def killed_while(doing: str, folder: Path, *, touched: bool = False) -> None:
    """Leave what an owner leaves that was killed while it was at ANA's collection."""
    lock_of(folder).write_text(f"{doing} {ANA}")
    since = lock_of(folder).stat().st_mtime_ns
    moment = since + 1_000_000 if touched else since - 1_000_000_000
    for file in folder.glob("*/*"):
        os.utime(file, ns=(moment, moment))


@pytest.mark.parametrize(
    ("doing", "touched", "trusted"), [("opening", False, False), ("changing", True, False), ("changing", False, True)]
)
async def test_a_collection_is_dropped_if_its_owner_was_killed_while_its_files_were_rewritten(
    folder: Path, doing: str, touched: bool, trusted: bool, caplog: pytest.LogCaptureFixture
) -> None:
    before = await filled(folder, rows=5)
    killed_while(doing, folder, touched=touched)
    async with opened(folder) as index:
        assert (await index.identity(ANA) == before) is trusted
        assert await index.numbers(BEN) == {1}
        assert len(await index.numbers(ANA)) == (5 if trusted else 0)
        assert lock_of(folder).read_text() == ""
    assert ("built anew" in caplog.text) is not trusted


CRASH = """
import asyncio, os, sys
from pathlib import Path
from chromadb.api.models.Collection import Collection
from commonplace.adapters.chroma.index import ChromaIndex, Embedded
from tests.contracts.vector_index import ANA, axis

async def use(folder: Path) -> None:
    Collection.query = lambda *_, **__: os.abort()
    await ChromaIndex(Embedded(folder)).search(ANA, axis(0), limit=1)

asyncio.run(use(Path(sys.argv[1])))
"""


def crash_in_the_first_search(folder: Path) -> int:
    return subprocess.run([sys.executable, "-c", CRASH, folder], stderr=subprocess.DEVNULL, check=False).returncode


async def test_files_that_crash_a_process_crash_only_one(folder: Path) -> None:
    before = await filled(folder)
    assert crash_in_the_first_search(folder) == -signal.SIGABRT
    assert lock_of(folder).read_text() == f"opening {ANA}"
    async with opened(folder) as index:
        assert await index.identity(ANA) != before
        assert await index.numbers(ANA) == frozenset()


async def test_the_nearest_of_many_are_the_right_ones(folder: Path) -> None:
    """An index may be approximate; this is how far."""
    rows = crowd(4_000, seed=1)
    questions = crowd(100, seed=2)
    async with opened(folder) as index:
        await index.upsert(ANA, dict(enumerate(rows)))
        hits = 0
        for question, nearest in zip(questions, np.argsort(-(questions @ rows.T), axis=1)[:, :10], strict=True):
            hits += len({*await found(index, ANA, question, limit=10)} & {*nearest.tolist()})
    assert hits / 1_000 >= 0.95


def crowd(rows: int, *, seed: int) -> Vector:
    """Return unit vectors of 384 numbers that vary in some 24 directions, like those of sentences."""
    shape = np.random.default_rng(0).standard_normal((25, 384))
    random = np.random.default_rng(seed)
    matrix = 0.2 * random.standard_normal((rows, 24)) @ shape[1:] + 0.3 * random.standard_normal((rows, 384))
    matrix += 0.3 * shape[0]
    return np.asarray(matrix / np.linalg.norm(matrix, axis=1, keepdims=True), np.float32)


async def test_the_mark_of_the_folder_explains_itself(folder: Path) -> None:
    await filled(folder, rows=1)
    assert "Commonplace" in (folder / OURS).read_text()


async def test_the_room_for_vectors_to_come_holds_nothing_that_was_in_memory_before(folder: Path) -> None:
    """Chroma fills it with whatever the process had there: here it is put there by hand."""
    await filled(folder, rows=20)
    for file in vector_files(folder, "data_level0.bin"):
        length = file.stat().st_size
        assert length, "a new file has room for vectors"
        file.write_bytes((b"a forgotten secret " * length)[:length])
    async with opened(folder) as index:
        assert len(await index.numbers(ANA)) == 20
    assert not [file for file in vector_files(folder, "*") if b"forgotten secret" in file.read_bytes()]
    async with opened(folder) as index:
        assert await found(index, ANA, cloud(20)[7], limit=1) == [7]
