"""The methods of AsyncClient for files: they go up before the message that carries them."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterable, Mapping, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from commonplace.care.export import private_file
from commonplace.client.asking import Asking, params_of
from commonplace.client.paths import user_of
from commonplace.domain.errors import InvalidInput
from commonplace.domain.inputs import parse_optional_name
from commonplace.domain.offers import Offer, parse_id, parse_offers
from commonplace.domain.plain import from_json
from commonplace.domain.values import Attachment
from commonplace.engine.filing import Source


class RemoteFiling:
    _asking: Asking

    async def attach(
        self, source: Source, *, user: str | None = None, name: str | None = None, type: str | None = None
    ) -> Attachment:
        """Keep a file for a message that is still to be added with `attachments=[{"id": …}]`."""
        if not isinstance(source, (PathLike, bytes, AsyncIterable)):
            raise InvalidInput(f"source={source!r}: expected a Path, bytes, or an async iterable of bytes")
        named = parse_optional_name(name, name="name")
        if isinstance(source, PathLike):
            named = named or Path(fspath(source)).name
        answer = await self._asking.send(
            "POST",
            "/v1/attachments",
            params=params_of({"user": user_of(user), "name": named}),
            content=await _content(source),
            media_type=type or "application/octet-stream",
        )
        return from_json(Attachment, answer.json())

    async def attachment(self, attachment_id: str, *, user: str | None = None) -> Attachment:
        """Return what is known of a file that a message carries. Raises NotFound, also for somebody else's."""
        path = f"/v1/attachments/{parse_id(attachment_id)}"
        return from_json(Attachment, await self._asking.get(path, user=user_of(user)))

    async def read_attachment(self, attachment_id: str, *, user: str | None = None) -> bytes:
        """Return the bytes of a file that a message carries."""
        path = f"/v1/attachments/{parse_id(attachment_id)}/content"
        return (await self._asking.send("GET", path, params=params_of({"user": user_of(user)}))).content

    async def save_attachment(
        self, attachment_id: str, to: str | PathLike[str], *, user: str | None = None
    ) -> Attachment:
        """Write a file that a message carries to a path here, whole or not at all, for the user's own eyes only."""
        found = await self.attachment(attachment_id, user=user)
        with private_file(to) as file:
            file.write(await self.read_attachment(attachment_id, user=user))
        return found

    async def stream_attachment(self, attachment_id: str, *, user: str | None = None) -> AsyncGenerator[bytes, None]:
        """Yield the bytes of a file that a message carries."""
        yield await self.read_attachment(attachment_id, user=user)

    async def _uploaded(self, content: object, attachments: object, *, user: str | None) -> Any:
        """Send the files of messages ahead. Returns the content as messages that name their ids."""
        offers = parse_offers(content, attachments)
        if not any(offers):
            return content
        messages = [content] if isinstance(content, (str, Mapping)) else content
        assert isinstance(messages, Sequence)  # else there were no offers
        said: list[dict[str, Any]] = [{"content": one} if isinstance(one, str) else dict(one) for one in messages]
        for message, offered in zip(said, offers, strict=True):
            message["attachments"] = [await self._named(offer, user=user) for offer in offered]
        return said

    async def _named(self, offer: Offer, *, user: str | None) -> dict[str, str]:
        source = offer.source
        if isinstance(source, str):
            id_: str = source
        else:
            id_ = (await self.attach(source, user=user, name=offer.name, type=offer.type)).id
        given = {"id": id_, "name": offer.name, "type": offer.type, "caption": offer.caption or None}
        return {key: value for key, value in given.items() if value is not None}


async def _content(source: Source) -> bytes:
    """Return the whole file: what is asked again must be sent again."""
    match source:
        case bytes():
            return source
        case PathLike():
            try:
                return await asyncio.to_thread(Path(fspath(source)).read_bytes)
            except OSError as error:
                raise InvalidInput(f"attachment: {fspath(source)}: {error.strerror}") from error
        case _:
            return b"".join([bytes(chunk) async for chunk in source])
