"""What messages carry, as rows that come and go with them."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from commonplace.adapters.sqlite import partitions
from commonplace.adapters.sqlite.columns import (
    Connection,
    optional_text_column,
    optional_text_of,
    text_column,
    text_of,
)
from commonplace.domain.scope import Scope
from commonplace.domain.values import Attachment, AttachmentId

T = TypeVar("T")

_OF_USER = """
    select a.id, a.type, a.size, a.name, '', '' from attachments a
    where a.message > :base and a.message <= :last and (:id is null or a.id = :id) order by a.message, a.place
"""


def insert(connection: Connection, message: int, attachments: Sequence[Attachment]) -> None:
    connection.executemany(
        "insert into attachments (message, place, id, type, size, name, caption, text) values (?,?,?,?,?,?,?,?)",
        [
            (
                message,
                place,
                one.id,
                one.type,
                one.size,
                optional_text_column(one.name),
                text_column(one.caption),
                text_column(one.text),
            )
            for place, one in enumerate(attachments)
        ],
    )


def of_message(connection: Connection, message: int) -> tuple[Attachment, ...]:
    rows = connection.execute(
        "select id, type, size, name, caption, text from attachments where message = ? order by place", (message,)
    )
    return tuple(map(_to_attachment, rows))


def of_user(
    connection: Connection, scope: Scope, ids: Sequence[AttachmentId] | None
) -> Mapping[AttachmentId, Attachment]:
    partition = partitions.find(connection, scope)
    if partition is None:
        return {}
    bounds = {"base": partition.base, "last": partition.last}
    found: dict[AttachmentId, Attachment] = {}
    for id_ in [None] if ids is None else ids:
        for row in connection.execute(_OF_USER, {**bounds, "id": id_}):
            found.setdefault(AttachmentId(row[0]), _to_attachment(row))
    return found


def _to_attachment(row: tuple[Any, ...]) -> Attachment:
    id_, media_type, size, name, caption, text = row
    return Attachment(
        id=AttachmentId(id_),
        type=media_type,
        size=size,
        name=optional_text_of(name),
        caption=text_of(caption),
        text=text_of(text),
    )


class SqliteAttachments(ABC):
    @abstractmethod
    async def _read(self, work: Callable[[Connection], T]) -> T: ...

    async def attachments(
        self, scope: Scope, ids: Sequence[AttachmentId] | None = None
    ) -> Mapping[AttachmentId, Attachment]:
        return await self._read(lambda connection: of_user(connection, scope, ids))
