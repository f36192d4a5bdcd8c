"""The bytes of an attachment on their way in and out: counted, hashed, and encrypted where the memory is.

Encrypted they are frames of a megabyte. Each opens only at its place, and the last one only as the last: what was cut
short, or put together from two files, does not open.
"""

import hashlib
from collections.abc import AsyncGenerator, AsyncIterable
from dataclasses import dataclass, field

from commonplace.domain.errors import InvalidInput, StoreUnavailable
from commonplace.domain.media import HEAD
from commonplace.domain.values import AttachmentId
from commonplace.ports.attachments import Incoming
from commonplace.ports.snapshot_store import Sealer

FRAME = 1 << 20
_LENGTH = 4


@dataclass(slots=True)
class Intake:
    """A file that is being taken in. `keep` or `abandon` it."""

    incoming: Incoming
    sealer: Sealer | None
    namespace: str
    most: int | None
    """Bytes it may have; None: any number."""
    size: int = 0
    head: bytes = b""
    _digest: "hashlib._Hash" = field(default_factory=hashlib.sha256)
    _frame: bytearray = field(default_factory=bytearray)
    _frames: int = 0

    @property
    def id(self) -> AttachmentId:
        return AttachmentId(self._digest.hexdigest())

    async def write(self, data: bytes) -> None:
        """Take in more. Raises InvalidInput when it is too much."""
        self.size += len(data)
        if self.most is not None and self.size > self.most:
            raise InvalidInput(f"attachment: more than {self.most:,} bytes, the most there may be (attachment_bytes)")
        self._digest.update(data)
        self.head += data[: HEAD - len(self.head)]
        if self.sealer is None:
            await self.incoming.write(data)
            return
        self._frame += data
        while len(self._frame) > FRAME:  # the last frame is never empty
            await self._seal(self.sealer, FRAME, last=False)

    async def keep(self) -> AttachmentId:
        if self.sealer is not None:
            await self._seal(self.sealer, len(self._frame), last=True)
        await self.incoming.keep(self.id)
        return self.id

    async def abandon(self) -> None:
        await self.incoming.abandon()

    async def _seal(self, sealer: Sealer, size: int, *, last: bool) -> None:
        sealed = sealer.close(bytes(self._frame[:size]), place=_place(self.namespace, self._frames, last=last))
        del self._frame[:size]
        self._frames += 1
        await self.incoming.write(len(sealed).to_bytes(_LENGTH, "big") + sealed)


async def plain(
    stored: AsyncIterable[bytes], sealer: Sealer | None, *, namespace: str, id_: AttachmentId
) -> AsyncGenerator[bytes, None]:
    """Yield the bytes of a file that is kept. Raises StoreUnavailable, at the end, if they are not what was kept."""
    digest = hashlib.sha256()
    async for data in stored if sealer is None else _unsealed(stored, sealer, namespace):
        digest.update(data)
        yield data
    if digest.hexdigest() != id_:
        raise StoreUnavailable(f"attachment {id_}: its bytes were changed; restore it from a snapshot")


async def _unsealed(stored: AsyncIterable[bytes], sealer: Sealer, namespace: str) -> AsyncGenerator[bytes, None]:
    waiting, number = bytearray(), 0
    async for data in stored:
        waiting += data
        # One frame is always held back: only the end of the file tells which is the last.
        while (size := _frame_size(waiting)) < len(waiting):
            yield sealer.open(bytes(waiting[_LENGTH:size]), place=_place(namespace, number, last=False))
            del waiting[:size]
            number += 1
    yield sealer.open(bytes(waiting[_LENGTH:]), place=_place(namespace, number, last=True))


def _frame_size(waiting: bytearray) -> int:
    return _LENGTH + int.from_bytes(waiting[:_LENGTH], "big") if len(waiting) >= _LENGTH else len(waiting)


def _place(namespace: str, number: int, *, last: bool) -> str:
    return f"attachment/{namespace}/{number}{'/last' if last else ''}"
