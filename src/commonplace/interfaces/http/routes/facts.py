"""Facts: list, write by hand, revise, retract, restore, and every version of one."""

import json
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query, Response
from pydantic import Field

from commonplace.domain.errors import InvalidInput
from commonplace.domain.plain import etag_of
from commonplace.domain.results import Page
from commonplace.domain.values import Fact, FactKind, FactVersion, Kind
from commonplace.interfaces.http.access import Access, Reader, Writer
from commonplace.interfaces.http.preconditions import IfMatch, changed
from commonplace.interfaces.http.wire import (
    Body,
    Cursor,
    Limit,
    Metadata,
    Moment,
    Name,
    User,
    UserQuery,
    described,
    reply,
)

router = APIRouter(prefix="/v1/facts", tags=["facts"])

FactId = Annotated[Name, Path(description="The id of the fact.")]


@dataclass(frozen=True, slots=True)
class Versions:
    """Every version of a fact, oldest first."""

    items: list[FactVersion]


class RememberRequest(Body):
    text: Annotated[str, Field(min_length=1, examples=["Allergic to peanuts"])]
    user: User = None
    kind: FactKind = "fact"
    importance: Annotated[float, Field(ge=0, le=1)] = 0.5
    confidence: Annotated[float, Field(ge=0, le=1)] = 1.0
    valid_from: Moment | None = None
    valid_to: Moment | None = None
    expires_at: Moment | None = None
    metadata: Metadata | None = None


class ReviseRequest(Body):
    text: Annotated[str | None, Field(min_length=1, examples=["Allergic to peanuts and cashews"])] = None
    user: User = None
    metadata: Annotated[Metadata | None, Field(description="Laid over what it has; null takes a key away.")] = None
    expires_at: Annotated[Moment | Literal["never"] | None, Field(description="Without it: as it was.")] = None
    reason: str = ""


class ReasonRequest(Body):
    user: User = None
    reason: str = ""


@router.get("", responses=described(Page[Fact], what="The latest first."))
async def facts(
    access: Reader,
    user: UserQuery = None,
    valid_at: Annotated[Moment | None, Query(description="What held at that moment.")] = None,
    as_of: Annotated[Moment | None, Query(description="What was known at that moment.")] = None,
    kinds: Annotated[list[Kind] | None, Query(description="Of these kinds only.")] = None,
    where: Annotated[str | None, Query(description="By metadata, as JSON.", examples=['{"stars": 3}'])] = None,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> Response:
    """Return the facts that hold; at another moment with `valid_at` and `as_of`."""
    page = await access.memory.facts(
        user=access.user(user),
        valid_at=valid_at,
        as_of=as_of,
        kinds=kinds,
        where=_where(where),
        limit=limit,
        cursor=cursor,
    )
    return reply(page)


def _where(text: str | None) -> dict[str, Any] | None:
    if text is None:
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise InvalidInput(f"where={text[:80]!r}: expected a JSON object")
    return value


@router.post("", status_code=201, responses=described(Fact, status=201, what="The fact."))
async def remember(asked: RememberRequest, access: Writer) -> Response:
    """Write a fact by hand. The same statement twice is one fact."""
    fact = await access.memory.remember(
        asked.text,
        user=access.user(asked.user),
        kind=asked.kind,
        importance=asked.importance,
        confidence=asked.confidence,
        valid_from=asked.valid_from,
        valid_to=asked.valid_to,
        expires_at=asked.expires_at,
        metadata=asked.metadata,
    )
    return _reply(fact, 201)


@router.get("/{fact_id:segment}/history", responses=described(Versions, what="Oldest first."))
async def history(fact_id: FactId, access: Reader, user: UserQuery = None) -> Response:
    """Return every version of a fact, each with the messages that led to it."""
    return reply(Versions(await access.memory.history(fact_id, user=access.user(user))))


@router.get("/{fact_id:segment}", responses=described(Fact, what="Its latest version."))
async def fact(fact_id: FactId, access: Reader, user: UserQuery = None) -> Response:
    """Return the latest version of a fact, whether still believed or not."""
    return _reply(await _latest(access, fact_id, access.user(user)))


@router.patch("/{fact_id:segment}", responses=described(Fact, what="As it reads now."))
async def revise(fact_id: FactId, asked: ReviseRequest, access: Writer, if_match: IfMatch = None) -> Response:
    """Give a fact another wording, metadata or expiry. How it was stays in its history."""
    user = access.user(asked.user)

    async def change(expected: Fact | None) -> Fact:
        return await access.memory.revise(
            fact_id,
            asked.text,
            user=user,
            metadata=asked.metadata,
            expires_at=asked.expires_at,
            reason=asked.reason,
            expected=expected,
        )

    return _reply(await changed(if_match, read=lambda: _latest(access, fact_id, user), change=change))


@router.post("/{fact_id:segment}/retract", responses=described(Fact, what="No longer believed."))
async def retract(fact_id: FactId, asked: ReasonRequest, access: Writer, if_match: IfMatch = None) -> Response:
    """Stop believing a fact. It stays in the history."""
    user = access.user(asked.user)

    async def change(expected: Fact | None) -> Fact:
        return await access.memory.retract(fact_id, user=user, reason=asked.reason, expected=expected)

    return _reply(await changed(if_match, read=lambda: _latest(access, fact_id, user), change=change))


@router.post("/{fact_id:segment}/restore", responses=described(Fact, what="Believed again."))
async def restore(fact_id: FactId, asked: ReasonRequest, access: Writer, if_match: IfMatch = None) -> Response:
    """Undo a retraction."""
    user = access.user(asked.user)

    async def change(expected: Fact | None) -> Fact:
        return await access.memory.restore(fact_id, user=user, reason=asked.reason, expected=expected)

    return _reply(await changed(if_match, read=lambda: _latest(access, fact_id, user), change=change))


async def _latest(access: Access, fact_id: str, user: str | None) -> Fact:
    return (await access.memory.history(fact_id, user=user))[-1].fact


def _reply(fact: Fact, status: int = 200) -> Response:
    return reply(fact, status, headers={"ETag": etag_of(fact)})
