"""Attachments: their bytes go to the store before the message that carries them is written, and leave after it has.

A file without a message is nobody's: it is swept with the next forget. A message without its file would be a loss, so
whoever adds one holds off this process's sweeps, and looks again afterwards for those of other processes.
"""

import asyncio
import hashlib
import json
from collections.abc import AsyncGenerator, AsyncIterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from pathlib import Path
from weakref import WeakValueDictionary

from commonplace.domain.errors import Conflict, InvalidInput, NotFound, StoreUnavailable
from commonplace.domain.media import allowed, readable, type_of
from commonplace.domain.offers import Offer
from commonplace.domain.scope import Scope
from commonplace.domain.values import Attachment, AttachmentId, Message
from commonplace.engine.intake import Intake, plain
from commonplace.engine.parts import Parts
from commonplace.ports.attachments import AttachmentStore, Kept
from commonplace.ports.snapshot_store import Sealer
from commonplace.recall.reading import LARGEST, text_in

CHUNK = 1 << 20
Bytes = Path | bytes | AsyncIterable[bytes]


class Attaching:
    def __init__(self, parts: Parts) -> None:
        self._parts, self._ledger = parts, parts.ledger
        self._locks: WeakValueDictionary[Scope, asyncio.Lock] = WeakValueDictionary()
        self._key: Sealer | None = None

    @property
    def has_store(self) -> bool:
        return self._parts.attachments is not None

    @property
    def place(self) -> str:
        """Where the files are."""
        return "" if self._parts.attachments is None else self._parts.attachments.place

    def guard(self, scope: Scope) -> AbstractAsyncContextManager[None]:
        """Hold off the sweeps of this user in this process."""
        lock = self._locks.get(scope)
        if lock is None:
            lock = self._locks[scope] = asyncio.Lock()
        return lock

    async def carry(
        self, scope: Scope, messages: Sequence[Message], offers: Sequence[Sequence[Offer]]
    ) -> list[Message]:
        """Store what is offered and return the messages with it. Raises InvalidInput for what may not be kept."""
        carrying: list[Message] = []
        stored: list[AttachmentId] = []
        try:
            for message, offered in zip(messages, offers, strict=True):
                attached: list[Attachment] = []
                for offer in offered:
                    one = await self._attach(scope, offer)
                    attached.append(one)
                    stored += [] if isinstance(offer.source, str) else [one.id]
                carrying.append(replace(message, attachments=tuple(attached)))
        except BaseException:
            await self.drop_unused(scope, stored)
            raise
        return carrying

    async def settle(self, scope: Scope, messages: Sequence[Message], offers: Sequence[Sequence[Offer]]) -> None:
        """Look again, when the messages are written: another process may have swept, and a known message had no need.

        Raises Conflict for a file that was swept and that nobody has here.
        """
        pairs = [
            (attachment.id, offer.source)
            for message, offered in zip(messages, offers, strict=True)
            for attachment, offer in zip(message.attachments, offered, strict=True)
        ]
        wanted = await self._ledger.attachments(scope, [id_ for id_, _ in pairs])
        there = await self.files(scope)
        for id_, source in pairs:
            if id_ in wanted and id_ not in there:
                if isinstance(source, str):
                    raise Conflict(f"attachment {id_} was removed by a forget meanwhile: upload it again")
                await self.store(scope, source)
        await self.drop_unused(scope, [id_ for id_, source in pairs if not isinstance(source, str)])

    async def _attach(self, scope: Scope, offer: Offer) -> Attachment:
        if isinstance(offer.source, str):
            head, size = await self._head(scope, offer.source)
            one = Attachment(
                id=offer.source, type=self._checked(head, offer.name, offer.type), size=size, name=offer.name
            )
        else:
            one = await self.store(scope, offer.source, name=offer.name, declared=offer.type)
        return replace(one, caption=offer.caption, text=await self._text(scope, one))

    async def store(
        self, scope: Scope, source: Bytes, *, name: str | None = None, declared: str | None = None
    ) -> Attachment:
        """Keep bytes, durable on return. Raises InvalidInput for too many of them, or of a type that is not allowed."""
        intake = await self.begin(scope)
        try:
            async for chunk in _chunks(source):
                await intake.write(chunk)
            media_type = self._checked(intake.head, name, declared)
            id_ = await intake.keep()
        except BaseException:
            await intake.abandon()
            raise
        return Attachment(id=id_, type=media_type, size=intake.size, name=name)

    async def begin(self, scope: Scope, *, limited: bool = True) -> Intake:
        namespace = self.namespace(scope)
        incoming = await self._store().begin(namespace)
        most = self._parts.options.attachment_bytes if limited else None
        return Intake(incoming, await self._sealer(), namespace, most)

    async def open(self, scope: Scope, id_: AttachmentId) -> AsyncGenerator[bytes, None]:
        """Yield the bytes of a file of this user. Raises NotFound, before the first of them."""
        namespace = self.namespace(scope)
        stored = self._store().read(namespace, id_)
        async for chunk in plain(stored, await self._sealer(), namespace=namespace, id_=id_):
            yield chunk

    async def read(self, scope: Scope, id_: AttachmentId) -> bytes:
        return b"".join([chunk async for chunk in self.open(scope, id_)])

    async def known(self, scope: Scope, id_: AttachmentId) -> Attachment:
        """Return an attachment that a message of this user carries. Raises NotFound."""
        found = await self._ledger.attachments(scope, [id_])
        if id_ not in found:
            raise NotFound("attachment", id_)
        return found[id_]

    async def files(self, scope: Scope) -> Mapping[AttachmentId, Kept]:
        return await self._store().files(self.namespace(scope))

    async def drop_unused(self, scope: Scope, ids: Sequence[AttachmentId]) -> None:
        """Remove those of these files that no message carries."""
        if not ids:
            return
        used = await self._ledger.attachments(scope, ids)
        if unused := [one for one in ids if one not in used]:
            await self._store().delete(self.namespace(scope), unused)

    async def sweep(self, scope: Scope) -> None:
        """Overwrite and remove every file that no message carries, and look that they are gone."""
        if self._parts.attachments is None:
            return
        namespace = self.namespace(scope)
        async with self.guard(scope):
            used = await self._ledger.attachments(scope)
            if not used:
                await self._store().clear(namespace)
            elif unused := [one for one in await self.files(scope) if one not in used]:
                await self._store().delete(namespace, unused)
            if left := (await self.files(scope)).keys() - used.keys():
                raise StoreUnavailable(f"attachments: {len(left)} files are still there")

    async def orphans(self, scopes: Sequence[Scope]) -> Mapping[str, Mapping[AttachmentId, Kept]]:
        """Return the files of this tenant by namespace, where that belongs to none of these users."""
        known, store = {self.namespace(scope) for scope in scopes}, self._store()
        there = await store.namespaces(self._hashed([self._parts.options.tenant]))
        return {one: await store.files(one) for one in there if one not in known}

    async def remove(self, namespace: str, ids: Sequence[AttachmentId]) -> None:
        await self._store().delete(namespace, ids)

    async def _text(self, scope: Scope, one: Attachment) -> str:
        if not readable(one.type) or one.size > LARGEST:
            return ""
        data = await self.read(scope, one.id)
        return await asyncio.to_thread(text_in, data, one.type, self._parts.readers)

    async def _head(self, scope: Scope, id_: AttachmentId) -> tuple[bytes, int]:
        head, size = b"", 0
        async for chunk in self.open(scope, id_):
            head = head or chunk[:512]
            size += len(chunk)
        return head, size

    def _checked(self, head: bytes, name: str | None, declared: str | None) -> str:
        if not head:
            raise InvalidInput("attachment: has no bytes; expected some")
        media_type, patterns = type_of(head, name=name, declared=declared), self._parts.options.attachment_types
        if not allowed(media_type, patterns):
            raise InvalidInput(f"attachment: {media_type} is not allowed; expected {patterns} (attachment_types)")
        return media_type

    def _store(self) -> AttachmentStore:
        if self._parts.attachments is None:
            raise InvalidInput("attachments: this memory was opened without a place to keep them")
        return self._parts.attachments

    async def _sealer(self) -> Sealer | None:
        seal = self._parts.attachment_seal
        if seal is not None and self._key is None:
            salt = hashlib.sha256(f"attachments of {self._ledger.name}".encode()).digest()[:16]
            self._key = await asyncio.to_thread(seal.begin, salt)
        return self._key

    def namespace(self, scope: Scope) -> str:
        return f"{self._hashed([scope.tenant])}/{self._hashed([scope.tenant, scope.user])}"

    def _hashed(self, names: Sequence[str | None]) -> str:
        """Names of folders that tell nobody whose they are, and cannot be guessed without the ledger."""
        text = json.dumps(list(names)).encode()
        return hashlib.blake2b(text, key=self._ledger.name.encode()[:64], digest_size=16).hexdigest()


async def _chunks(source: Bytes) -> AsyncGenerator[bytes, None]:
    match source:
        case bytes():
            yield source
        case Path():
            try:
                file = await asyncio.to_thread(source.open, "rb")
            except OSError as error:
                raise InvalidInput(f"attachment: {source}: {error.strerror}") from error
            try:
                while chunk := await asyncio.to_thread(file.read, CHUNK):
                    yield chunk
            finally:
                file.close()
        case _:
            async for chunk in source:
                yield bytes(chunk)
