"""Carrying a user's memory out and in again: export and import."""

import io
import json
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, ConfigDict, Field

from commonplace.domain.imports import Imported
from commonplace.interfaces.http.access import Access, Reader, Writer
from commonplace.interfaces.http.wire import Name, UserQuery, described, reply

router = APIRouter(prefix="/v1", tags=["care"])


@router.get(
    "/export",
    response_class=StreamingResponse,
    responses={
        200: {
            "description": "One JSON object a line: docs/export-import.md describes them.",
            "content": {"application/x-ndjson": {"schema": {"type": "string"}}},
        }
    },
)
async def export(
    access: Reader,
    user: UserQuery = None,
    vectors: Annotated[bool, Query(description="With vectors: it can be imported without an embedding model.")] = False,
) -> Response:
    """Return everything held on a user, as of this moment."""
    held = await access.memory.export(user=access.user(user), vectors=vectors)
    return StreamingResponse(
        (f"{line}\n" for line in held),
        media_type="application/x-ndjson",
        headers={"X-Commonplace-Counts": json.dumps(held.counts)},
    )


class ImportQuery(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    user: Annotated[Name | None, Field(description="Whose it becomes. Without it: whose it was.")] = None
    anonymous: Annotated[bool, Field(description="It becomes the anonymous user's.")] = False
    only: Annotated[bool, Field(description="What names another user is a bad line.")] = False
    session: Annotated[Name | None, Field(description="The conversation, where the file names none.")] = None
    format: Annotated[Name, Field(description="The form of the file. `auto`: found out.")] = "auto"
    learn: Annotated[bool, Field(description="Learn from files of messages.")] = True
    bring_back: Annotated[bool, Field(description="Take in what was forgotten here, too.")] = False
    dry_run: Annotated[bool, Field(description="Only count.")] = False
    strict: Annotated[bool, Field(description="Refuse the file for one bad line.")] = False


@router.post(
    "/import",
    responses=described(Imported, what="What came of it."),
    openapi_extra={
        "requestBody": {
            "description": "The file: an export, or what another program has kept (docs/export-import.md).",
            "required": True,
            "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
        }
    },
)
async def import_from(access: Writer, request: Request, asked: Annotated[ImportQuery, Query()]) -> Response:
    """Take in an export, or what another program has kept. Twice is once."""
    imported = await access.memory.import_from(
        io.BytesIO(await request.body()),
        user=_whose(access, asked),
        anonymous=asked.anonymous,
        only=asked.only or access.caller.user is not None,
        session=asked.session,
        format=asked.format,
        learn=asked.learn,
        bring_back=asked.bring_back,
        dry_run=asked.dry_run,
        strict=asked.strict,
    )
    return reply(imported)


def _whose(access: Access, asked: ImportQuery) -> str | None:
    """Return whose it becomes; None leaves it whose it was, which a key of one user cannot ask for."""
    if asked.anonymous:
        access.everybody()
        return asked.user
    return access.user(asked.user)
