"""The methods for files on their own: to keep one before the message is written, and to get one back."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterable
from os import PathLike, fspath
from pathlib import Path

from commonplace.care.export import private_file
from commonplace.domain.errors import InvalidInput
from commonplace.domain.inputs import parse_optional_name
from commonplace.domain.media import parse_type
from commonplace.domain.offers import parse_id
from commonplace.domain.scope import Scope
from commonplace.domain.values import Attachment
from commonplace.engine.attaching import Attaching
from commonplace.engine.parts import Parts

Source = PathLike[str] | bytes | AsyncIterable[bytes]


class Filing:
    _parts: Parts
    _attaching: Attaching

    async def attach(
        self, source: Source, *, user: str | None = None, name: str | None = None, type: str | None = None
    ) -> Attachment:
        """Keep a file for a message that is still to be added with `attachments=[{"id": …}]`.

        Without such a message it is removed with the next forget of this user, or by `doctor`.
        """
        if not isinstance(source, (PathLike, bytes, AsyncIterable)):
            raise InvalidInput(f"source={source!r}: expected a Path, bytes, or an async iterable of bytes")
        given = Path(fspath(source)) if isinstance(source, PathLike) else source
        named = parse_optional_name(name, name="name") or (given.name if isinstance(given, Path) else None)
        declared = None if type is None else parse_type(type)
        return await self._attaching.store(self._filed(user), given, name=named, declared=declared)

    async def attachment(self, attachment_id: str, *, user: str | None = None) -> Attachment:
        """Return what is known of a file that a message carries. Raises NotFound, also for somebody else's."""
        return await self._attaching.known(self._filed(user), parse_id(attachment_id))

    async def read_attachment(self, attachment_id: str, *, user: str | None = None) -> bytes:
        """Return the bytes of a file that a message carries."""
        return b"".join([chunk async for chunk in self.stream_attachment(attachment_id, user=user)])

    async def save_attachment(
        self, attachment_id: str, to: str | PathLike[str], *, user: str | None = None
    ) -> Attachment:
        """Write a file that a message carries to a path, whole or not at all, for the user's own eyes only."""
        found = await self.attachment(attachment_id, user=user)
        with private_file(to) as file:
            async for chunk in self.stream_attachment(attachment_id, user=user):
                await asyncio.to_thread(file.write, chunk)
        return found

    async def stream_attachment(self, attachment_id: str, *, user: str | None = None) -> AsyncGenerator[bytes, None]:
        """Yield the bytes of a file that a message carries, piece by piece."""
        found = await self.attachment(attachment_id, user=user)
        async for chunk in self._attaching.open(self._filed(user), found.id):
            yield chunk

    def _filed(self, user: object) -> Scope:
        return Scope(self._parts.options.tenant, parse_optional_name(user, name="user"))
