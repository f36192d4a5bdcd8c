from pathlib import Path
from uuid import uuid4

import pytest

from commonplace.adapters.folder import FolderStore
from commonplace.adapters.s3 import S3SnapshotStore
from commonplace.domain.errors import InvalidInput
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


@pytest.mark.parametrize("place", ["s3://", "s3:///prefix", "bucket/prefix"])
def test_what_is_no_bucket_is_refused(place: str) -> None:
    with pytest.raises(InvalidInput, match="expected s3://bucket"):
        S3SnapshotStore(place)


@pytest.mark.parametrize("place", ["s3://[", "s3://bucket/[x]/#1?"])
def test_all_of_an_address_is_the_bucket_and_the_prefix(place: str) -> None:
    assert S3SnapshotStore(place).place == place


@pytest.mark.parametrize("endpoint", ["127.0.0.1:9", "http://", "http://[", "http://a b", "http://ana:hush@host:9"])
def test_an_endpoint_that_is_no_address_is_refused_before_it_is_used(endpoint: str) -> None:
    with pytest.raises(InvalidInput, match="s3_endpoint: expected http") as refused:
        S3SnapshotStore("s3://bucket", endpoint=endpoint)
    assert "hush" not in str(refused.value)
