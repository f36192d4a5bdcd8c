"""What every SnapshotStore must do. An adapter passes by subclassing this and giving a `store`."""

import pytest

from commonplace.domain.errors import NotFound
from commonplace.ports.snapshot_store import SnapshotStore


class SnapshotStoreContract:
    async def test_what_is_put_can_be_had_and_replaced(self, store: SnapshotStore) -> None:
        await store.put("a/b.bin", b"\x00\xff" * 1_000)
        assert await store.get("a/b.bin") == b"\x00\xff" * 1_000
        await store.put("a/b.bin", b"")
        assert await store.get("a/b.bin") == b""

    async def test_names_are_listed_in_order_below_a_folder(self, store: SnapshotStore) -> None:
        for name in ("s/2/x", "s/1/y", "s/1/x", "t/1"):
            await store.put(name, b"1")
        assert await store.names("s/") == ["s/1/x", "s/1/y", "s/2/x"]
        assert await store.names("nothing/") == []

    async def test_what_is_deleted_is_gone_and_twice_is_no_error(self, store: SnapshotStore) -> None:
        await store.put("d/x", b"1")
        await store.put("d/y", b"1")
        await store.delete(["d/x", "d/never"])
        await store.delete(["d/x"])
        assert await store.names("d/") == ["d/y"]
        with pytest.raises(NotFound):
            await store.get("d/x")
