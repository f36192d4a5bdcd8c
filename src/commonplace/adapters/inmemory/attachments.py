"""AttachmentStore in dictionaries: nothing is stored."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from datetime import UTC, datetime

from commonplace.domain.errors import NotFound
from commonplace.domain.values import AttachmentId
from commonplace.ports.attachments import Kept

CHUNK = 1 << 20


class InMemoryAttachments:
    place = "this process"

    def __init__(self) -> None:
        self._kept: dict[str, dict[AttachmentId, tuple[bytes, datetime]]] = {}

    async def begin(self, namespace: str) -> "InMemoryIncoming":
        return InMemoryIncoming(self._kept, namespace)

    async def read(self, namespace: str, id_: AttachmentId) -> AsyncGenerator[bytes, None]:
        if id_ not in self._kept.get(namespace, {}):
            raise NotFound("attachment", id_)
        data, _ = self._kept[namespace][id_]
        for start in range(0, len(data), CHUNK):
            yield data[start : start + CHUNK]

    async def files(self, namespace: str) -> Mapping[AttachmentId, Kept]:
        return {id_: Kept(len(data), at) for id_, (data, at) in self._kept.get(namespace, {}).items()}

    async def namespaces(self, under: str) -> Sequence[str]:
        return sorted(one for one in self._kept if one.startswith(f"{under}/"))

    async def delete(self, namespace: str, ids: Sequence[AttachmentId]) -> None:
        left = {id_: one for id_, one in self._kept.get(namespace, {}).items() if id_ not in ids}
        self._kept.pop(namespace, None)
        if left:
            self._kept[namespace] = left

    async def clear(self, namespace: str) -> None:
        self._kept.pop(namespace, None)


class InMemoryIncoming:
    def __init__(self, kept: dict[str, dict[AttachmentId, tuple[bytes, datetime]]], namespace: str) -> None:
        self._kept, self._namespace, self._data = kept, namespace, bytearray()

    async def write(self, data: bytes) -> None:
        self._data += data

    async def keep(self, id_: AttachmentId) -> None:
        self._kept.setdefault(self._namespace, {})[id_] = (bytes(self._data), datetime.now(UTC))

    async def abandon(self) -> None:
        self._data.clear()
