import os
from pathlib import Path
from uuid import uuid4

import pytest

from commonplace.adapters.folder.attachments import FolderAttachments
from commonplace.adapters.inmemory.attachments import InMemoryAttachments
from commonplace.adapters.s3.attachments import S3Attachments
from commonplace.domain.errors import StoreUnavailable
from commonplace.domain.values import AttachmentId
from tests.contracts.attachment_store import ANA, AttachmentStoreContract, content, put
from tests.faults.room import files_up_to


def modes_in(folder: str) -> set[int]:
    return {path.stat().st_mode & 0o777 for path in Path(folder).rglob("*")}


class TestInMemoryAttachments(AttachmentStoreContract):
    @pytest.fixture
    def store(self) -> InMemoryAttachments:
        return InMemoryAttachments()


class TestFolderAttachments(AttachmentStoreContract):
    @pytest.fixture
    def store(self, tmp_path: Path) -> FolderAttachments:
        return FolderAttachments(tmp_path / "home" / "attachments")

    async def test_files_are_private(self, store: FolderAttachments) -> None:
        await put(store, ANA, b"1")
        assert modes_in(store.place) == {0o700, 0o600}

    async def test_what_is_removed_is_overwritten_first(self, store: FolderAttachments, tmp_path: Path) -> None:
        id_ = await put(store, ANA, b"a secret")
        other_name = tmp_path / "the same file"
        os.link(Path(store.place) / ANA / id_, other_name)
        await store.delete(ANA, [id_])
        assert other_name.read_bytes() == bytes(len("a secret"))

    async def test_what_a_killed_process_left_is_removed_an_hour_later(self, store: FolderAttachments) -> None:
        incoming = await store.begin(ANA)
        await incoming.write(b"half of it")
        (left,) = (Path(store.place) / ANA).iterdir()
        await put(store, ANA, b"1")
        assert left.exists()
        os.utime(left, (0, 0))
        id_ = await put(store, ANA, b"1")
        assert not left.exists()
        assert await content(store, ANA, id_) == b"1"
        await incoming.abandon()

    async def test_a_place_that_cannot_be_written_is_named_as_unavailable(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("no folder")
        with pytest.raises(StoreUnavailable, match=str(tmp_path / "file" / "attachments")):
            await FolderAttachments(tmp_path / "file" / "attachments").begin(ANA)

    async def test_a_place_without_room_is_named_and_nothing_is_left_there(self, store: FolderAttachments) -> None:
        incoming = await store.begin(ANA)
        with files_up_to(1_000):
            await incoming.write(bytes(2_000))  # it waits in a buffer
            with pytest.raises(StoreUnavailable, match=store.place):
                await incoming.keep(AttachmentId("0" * 64))
            await incoming.abandon()
        assert modes_in(store.place) == {0o700}  # folders only


class TestS3Attachments(AttachmentStoreContract):
    @pytest.fixture
    def store(self, s3_url: str, monkeypatch: pytest.MonkeyPatch) -> S3Attachments:
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
        return S3Attachments(f"s3://bucket/{uuid4().hex}", endpoint=s3_url)
