"""AttachmentStore on S3 and what is compatible with it.

An object cannot be renamed, so a file is written under a name of its own and copied, inside the store, to its id.
A bucket that keeps versions keeps what was forgotten, too: switch that off.
"""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import suppress
from uuid import uuid4

import obstore
from obstore.exceptions import BaseError
from obstore.store import S3Store

from commonplace.adapters.s3 import opened_bucket, unavailable
from commonplace.domain.errors import NotFound
from commonplace.domain.values import AttachmentId
from commonplace.ports.attachments import Kept

UNFINISHED = "unfinished-"


class S3Attachments:
    def __init__(self, place: str, *, endpoint: str | None = None) -> None:
        self._place = place
        self._store, prefix = opened_bucket(place, endpoint=endpoint)
        self._prefix = f"{prefix}/" if prefix else ""

    @property
    def place(self) -> str:
        return self._place

    async def begin(self, namespace: str) -> "S3Incoming":
        return S3Incoming(self._store, f"{self._prefix}{namespace}", self._place)

    async def read(self, namespace: str, id_: AttachmentId) -> AsyncGenerator[bytes, None]:
        try:
            found = await obstore.get_async(self._store, f"{self._prefix}{namespace}/{id_}")
            async for chunk in found.stream():
                yield bytes(chunk)
        except FileNotFoundError:
            raise NotFound("attachment", id_) from None
        except BaseError as error:
            raise unavailable(self._place, error) from error

    async def files(self, namespace: str) -> Mapping[AttachmentId, Kept]:
        return {
            AttachmentId(name): Kept(size, at)
            for name, (size, at) in (await self._objects(namespace)).items()
            if not name.startswith(UNFINISHED)
        }

    async def namespaces(self, under: str) -> Sequence[str]:
        return sorted({f"{under}/{name.split('/')[0]}" for name in await self._objects(under)})

    async def delete(self, namespace: str, ids: Sequence[AttachmentId]) -> None:
        await self._erase([f"{self._prefix}{namespace}/{one}" for one in ids])

    async def clear(self, namespace: str) -> None:
        await self._erase([f"{self._prefix}{namespace}/{name}" for name in await self._objects(namespace)])

    async def _objects(self, folder: str) -> dict[str, Kept]:
        prefix = f"{self._prefix}{folder}"
        try:
            found = await obstore.list(self._store, prefix).collect_async()
        except FileNotFoundError:
            return {}
        except BaseError as error:
            raise unavailable(self._place, error) from error
        return {str(one["path"])[len(prefix) + 1 :]: Kept(one["size"], one["last_modified"]) for one in found}

    async def _erase(self, keys: Sequence[str]) -> None:
        try:
            for key in keys:
                with suppress(FileNotFoundError):
                    await obstore.delete_async(self._store, key)
        except BaseError as error:
            raise unavailable(self._place, error) from error


class S3Incoming:
    def __init__(self, store: S3Store, folder: str, place: str) -> None:
        self._store, self._folder, self._place = store, folder, place
        self._unfinished: str | None = f"{folder}/{UNFINISHED}{uuid4().hex}"
        self._writer = obstore.open_writer_async(store, self._unfinished)

    async def write(self, data: bytes) -> None:
        try:
            await self._writer.write(data)
        except BaseError as error:
            raise unavailable(self._place, error) from error

    async def keep(self, id_: AttachmentId) -> None:
        assert self._unfinished is not None
        try:
            await self._writer.close()
            await obstore.copy_async(self._store, self._unfinished, f"{self._folder}/{id_}")
            await obstore.delete_async(self._store, self._unfinished)
        except BaseError as error:
            raise unavailable(self._place, error) from error
        self._unfinished = None

    async def abandon(self) -> None:
        unfinished, self._unfinished = self._unfinished, None
        if unfinished is None:
            return
        with suppress(FileNotFoundError, BaseError, OSError):
            # What was not closed was never there; what was, goes. A bucket that does not answer is swept later.
            await self._writer.close()
            await obstore.delete_async(self._store, unfinished)
