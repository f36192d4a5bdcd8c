"""Files that messages carry: kept before the message is, and had again.

A browser shows a file only if it is an image of a kind that cannot hold a script, and saves everything else: so nothing
that somebody has uploaded can act as a page of this service.
"""

from collections.abc import AsyncGenerator
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Path, Query, Request, Response
from fastapi.responses import StreamingResponse

from commonplace.domain.media import IMAGES, UNKNOWN
from commonplace.domain.values import Attachment
from commonplace.interfaces.http.access import Access, Reader, Writer
from commonplace.interfaces.http.wire import Name, UserQuery, described, reply

router = APIRouter(prefix="/v1/attachments", tags=["attachments"])

AttachmentName = Annotated[
    str, Path(description="The id of the attachment: the SHA-256 of its bytes.", pattern="^[0-9a-f]{64}$")
]
BINARY = {"schema": {"type": "string", "format": "binary"}}


@router.post(
    "",
    status_code=201,
    responses=described(Attachment, status=201, what="Kept, until a message carries it or the next forget."),
    openapi_extra={"requestBody": {"required": True, "content": {UNKNOWN: BINARY}}},
)
async def attach(
    access: Writer,
    request: Request,
    user: UserQuery = None,
    name: Annotated[Name | None, Query(description="The name of the file.")] = None,
) -> Response:
    """Keep a file for a message that names its id. Its Content-Type is what it says it is; its bytes are looked at."""
    declared = request.headers.get("content-type", UNKNOWN).partition(";")[0].strip().lower()
    kept = await access.memory.attach(
        await request.body(), user=access.user(user), name=name, type=None if declared in ("", UNKNOWN) else declared
    )
    return reply(kept, 201)


@router.get("/{attachment_id}", responses=described(Attachment, what="What is known of it."))
async def attachment(attachment_id: AttachmentName, access: Reader, user: UserQuery = None) -> Response:
    """Return what is known of a file that a message carries."""
    return reply(await access.memory.attachment(attachment_id, user=access.user(user)))


@router.get(
    "/{attachment_id}/content",
    responses={200: {"description": "Its bytes.", "content": {UNKNOWN: BINARY}}},
)
async def content(attachment_id: AttachmentName, access: Reader, user: UserQuery = None) -> Response:
    """Return the bytes of a file that a message carries."""
    return await served(access, attachment_id, access.user(user))


async def served(access: Access, attachment_id: str, user: str | None) -> Response:
    found = await access.memory.attachment(attachment_id, user=user)
    stream = access.memory.stream_attachment(attachment_id, user=user)
    first = await anext(stream)  # what cannot be had is told before the answer begins

    async def chunks() -> AsyncGenerator[bytes, None]:
        yield first
        async for chunk in stream:
            yield chunk

    return StreamingResponse(chunks(), media_type=shown_as(found), headers=_headers(found))


def shown_as(attachment: Attachment) -> str:
    """Return the type that a browser is told: of a page or drawing that could hold a script, only that it is a file."""
    return attachment.type if attachment.type in IMAGES else UNKNOWN


def _headers(attachment: Attachment) -> dict[str, str]:
    name = quote(attachment.name or attachment.id, safe="", errors="replace")
    how = "inline" if attachment.type in IMAGES else "attachment"
    return {
        "Content-Disposition": f"{how}; filename*=UTF-8''{name}",
        "Content-Length": str(attachment.size),
        "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
    }
