"""What messages carry, as rows that come and go with them."""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeVar

from commonplace.adapters.postgres import partitions
from commonplace.adapters.postgres.columns import (
    Connection,
    optional_text_column,
    optional_text_of,
    text_column,
    text_of,
)
from commonplace.domain.scope import Scope
from commonplace.domain.values import Attachment, AttachmentId

T = TypeVar("T")

OF_MESSAGE = """
    (select json_agg(json_build_array(a.id, a.type, a.size, a.name, a.caption, a.text) order by a.place)
    from attachments a where a.message = messages.row)
"""
"""A column of `messages`: null for one that carries nothing."""

_OF_USER = """
    select id, type, size, name, '', '' from attachments
    where message > %(base)s and message <= %(last)s and (%(ids)s::text[] is null or id = any(%(ids)s))
    order by message, place
"""


def columns_of(message: int, place: int, one: Attachment) -> Sequence[object]:
    return (
        message,
        place,
        one.id,
        one.type,
        one.size,
        optional_text_column(one.name),
        text_column(one.caption),
        text_column(one.text),
    )


def to_attachments(column: Sequence[Sequence[Any]] | None) -> tuple[Attachment, ...]:
    return tuple(map(_to_attachment, column or ()))


async def of_user(
    connection: Connection, scope: Scope, ids: Sequence[AttachmentId] | None
) -> Mapping[AttachmentId, Attachment]:
    partition = await partitions.find(connection, scope)
    if partition is None:
        return {}
    rows = await connection.execute(
        _OF_USER, {"base": partition.base, "last": partition.last, "ids": None if ids is None else list(ids)}
    )
    found: dict[AttachmentId, Attachment] = {}
    for one in map(_to_attachment, await rows.fetchall()):
        found.setdefault(one.id, one)
    return found


def _to_attachment(row: Sequence[Any]) -> Attachment:
    id_, media_type, size, name, caption, text = row
    return Attachment(
        id=AttachmentId(id_),
        type=media_type,
        size=size,
        name=optional_text_of(name),
        caption=text_of(caption),
        text=text_of(text),
    )


class PostgresAttachments(ABC):
    @abstractmethod
    async def _read(self, work: Callable[[Connection], Awaitable[T]], *, tenant: str | None) -> T: ...

    async def attachments(
        self, scope: Scope, ids: Sequence[AttachmentId] | None = None
    ) -> Mapping[AttachmentId, Attachment]:
        return await self._read(lambda connection: of_user(connection, scope, ids), tenant=scope.tenant)
