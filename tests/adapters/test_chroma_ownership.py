"""One process owns a Chroma folder; everybody else is told so, and may take over."""

import os
from pathlib import Path

import pytest

from commonplace.adapters.chroma.index import ChromaIndex, Embedded, lock_of
from commonplace.adapters.chroma.ownership import Note, Ownership
from commonplace.domain.errors import IndexUnavailable
from tests.contracts.vector_index import ANA, axis, found


async def test_a_second_index_on_a_folder_is_not_its_owner_and_answers_nothing(tmp_path: Path) -> None:
    async with (
        ChromaIndex(Embedded(tmp_path / "chroma")) as first,
        ChromaIndex(Embedded(tmp_path / "chroma")) as second,
    ):
        await first.upsert(ANA, {1: axis(0)})
        assert (first.owned, second.owned, second.try_own()) == (True, False, False)
        for call in (
            second.search(ANA, axis(0), limit=1),
            second.upsert(ANA, {2: axis(1)}),
            second.remove(ANA, [1]),
            second.numbers(ANA),
            second.identity(ANA),
            second.collections(),
            second.drop(ANA),
        ):
            with pytest.raises(IndexUnavailable, match="another process owns it"):
                await call
        assert await first.numbers(ANA) == {1}


async def test_who_takes_over_finds_what_the_owner_before_left(tmp_path: Path) -> None:
    async with ChromaIndex(Embedded(tmp_path / "chroma")) as second:
        async with ChromaIndex(Embedded(tmp_path / "chroma")) as first:
            assert not first.owned
        await second.close()
        async with ChromaIndex(Embedded(tmp_path / "chroma")) as third:
            await third.upsert(ANA, {1: axis(0)})
            fourth = ChromaIndex(Embedded(tmp_path / "chroma"))
            assert not fourth.try_own()
        assert fourth.try_own()
        assert await found(fourth, ANA, axis(0)) == [1]
        await fourth.close()


async def test_folders_do_not_lock_each_other(tmp_path: Path) -> None:
    async with ChromaIndex(Embedded(tmp_path / "a")) as first, ChromaIndex(Embedded(tmp_path / "b")) as second:
        assert first.owned
        assert second.owned


async def test_where_no_lock_can_be_had_the_reason_is_given(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("a file")
    async with ChromaIndex(Embedded(tmp_path / "home" / "chroma")) as index:
        assert not index.owned
        with pytest.raises(IndexUnavailable, match="chroma.lock"):
            await index.numbers(ANA)


def test_a_forked_child_is_not_the_owner_and_its_end_changes_nothing(tmp_path: Path) -> None:
    parent = Ownership(tmp_path / "lock")
    assert parent.take()
    child = os.fork()
    if not child:
        os._exit(10 * parent.held + parent.take())
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert parent.held
    assert not Ownership(tmp_path / "lock").take()
    parent.release()
    assert Ownership(tmp_path / "lock").take()


def test_a_note_is_there_for_as_long_as_the_work_takes(tmp_path: Path) -> None:
    owner = Ownership(tmp_path / "lock")
    assert owner.take()
    assert owner.left_note() is None
    with owner.noting("changing", "cp-1"):
        since = lock_of(tmp_path / "x").with_name("lock").stat().st_mtime_ns
        assert owner.left_note() == Note("changing", "cp-1", since)
    assert owner.left_note() is None


def test_an_error_in_the_work_is_no_crash_and_leaves_no_note(tmp_path: Path) -> None:
    owner = Ownership(tmp_path / "lock")
    assert owner.take()
    with pytest.raises(ZeroDivisionError), owner.noting("changing", "cp-1"):
        raise ZeroDivisionError
    assert owner.left_note() is None
