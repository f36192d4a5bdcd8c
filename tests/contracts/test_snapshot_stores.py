from pathlib import Path
from uuid import uuid4

import pytest

from commonplace.adapters.folder import FolderStore
from commonplace.adapters.s3 import S3SnapshotStore
from tests.contracts.snapshot_store import SnapshotStoreContract


class TestFolderStore(SnapshotStoreContract):
    @pytest.fixture
    def store(self, tmp_path: Path) -> FolderStore:
        return FolderStore(tmp_path / "snapshots")

    async def test_files_are_private(self, tmp_path: Path) -> None:
        await FolderStore(tmp_path / "new").put("a/b", b"1")
        modes = {path.stat().st_mode & 0o777 for path in (tmp_path / "new").rglob("*")}
        assert modes == {0o700, 0o600}


class TestS3Store(SnapshotStoreContract):
    @pytest.fixture
    def store(self, s3_url: str, monkeypatch: pytest.MonkeyPatch) -> S3SnapshotStore:
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
        return S3SnapshotStore(f"s3://bucket/{uuid4().hex}", endpoint=s3_url)
