"""What every AttachmentStore must do. An adapter passes by subclassing this and giving a `store`."""

import hashlib
from datetime import UTC, datetime, timedelta

import pytest

from commonplace.domain.errors import NotFound
from commonplace.domain.values import AttachmentId
from commonplace.ports.attachments import AttachmentStore

ANA, BEN = "tenant/ana", "tenant/ben"
LARGE = bytes(range(256)) * 12_000


async def put(store: AttachmentStore, namespace: str, data: bytes, *, step: int = 1 << 20) -> AttachmentId:
    incoming, id_ = await store.begin(namespace), AttachmentId(hashlib.sha256(data).hexdigest())
    for start in range(0, len(data), step):
        await incoming.write(data[start : start + step])
    await incoming.keep(id_)
    return id_


async def content(store: AttachmentStore, namespace: str, id_: AttachmentId) -> bytes:
    return b"".join([chunk async for chunk in store.read(namespace, id_)])


class AttachmentStoreContract:
    async def test_what_is_kept_can_be_had_again_and_again(self, store: AttachmentStore) -> None:
        small, large = await put(store, ANA, b"1"), await put(store, ANA, LARGE, step=700_000)
        await put(store, ANA, b"1")
        assert (await content(store, ANA, small), await content(store, ANA, large)) == (b"1", LARGE)
        files = await store.files(ANA)
        assert {id_: kept.size for id_, kept in files.items()} == {small: 1, large: len(LARGE)}
        assert all(abs(datetime.now(UTC) - kept.at) < timedelta(hours=1) for kept in files.values())

    async def test_one_namespace_never_sees_another(self, store: AttachmentStore) -> None:
        id_ = await put(store, ANA, b"of Ana")
        with pytest.raises(NotFound):
            await content(store, BEN, id_)
        assert await store.files(BEN) == {}
        await put(store, BEN, b"of Ana")
        await store.delete(BEN, [id_])
        assert await content(store, ANA, id_) == b"of Ana"
        assert await store.namespaces("tenant") == [ANA]
        assert await store.namespaces("ten") == []

    async def test_what_is_not_finished_is_seen_by_nobody_and_leaves_nothing(self, store: AttachmentStore) -> None:
        incoming = await store.begin(ANA)
        await incoming.write(b"half of it")
        assert await store.files(ANA) == {}
        await incoming.abandon()
        await incoming.abandon()
        assert await store.namespaces("tenant") in ([], [ANA])
        assert await store.files(ANA) == {}

    async def test_what_is_deleted_is_gone_and_twice_is_no_error(self, store: AttachmentStore) -> None:
        first, second, third = [await put(store, ANA, data) for data in (b"1", b"2", b"3")]
        await store.delete(ANA, [first, AttachmentId("f" * 64)])
        await store.delete(ANA, [first])
        assert set(await store.files(ANA)) == {second, third}
        await store.clear(ANA)
        await store.clear(ANA)
        assert await store.files(ANA) == {}
        assert await store.namespaces("tenant") == []
