"""Finding: recall and context."""

from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Response
from pydantic import Field

from commonplace.domain.results import Context, WhyNot
from commonplace.domain.values import Kind, Recalled
from commonplace.interfaces.http.access import Reader
from commonplace.interfaces.http.wire import Body, Moment, Name, User, described, reply

router = APIRouter(prefix="/v1", tags=["finding"])


@dataclass(frozen=True, slots=True)
class Found:
    """What was found, the best first."""

    items: list[Recalled]
    notes: tuple[str, ...] = ()


class RecallRequest(Body):
    query: Annotated[str, Field(description="Empty: the latest.", examples=["which tools do I use?"])]
    user: User = None
    limit: Annotated[int, Field(ge=0, le=10_000)] = 10
    kinds: Annotated[list[Kind] | None, Field(min_length=1, description="Of these kinds only.")] = None
    session: Name | None = None
    agent: Name | None = None
    during: Annotated[
        list[Moment | None] | None,
        Field(min_length=2, max_length=2, description="Said from the first moment on, and before the second."),
    ] = None
    valid_at: Annotated[Moment | None, Field(description="What held at that moment.")] = None
    as_of: Annotated[Moment | None, Field(description="What was known at that moment.")] = None
    where: Annotated[dict[str, Any] | None, Field(description="By metadata.", examples=[{"stars": {"$gte": 3}}])] = None
    min_relevance: Annotated[float | None, Field(ge=0, le=1)] = None
    explain: bool = False


class WhyNotRequest(RecallRequest):
    id: Annotated[Name, Field(description="The message or fact that was missed.")]


class ContextRequest(Body):
    query: Annotated[str, Field(examples=["which tools do I use?"])]
    user: User = None
    session: Annotated[Name | None, Field(description="The conversation going on: it is left out.")] = None
    budget: Annotated[int, Field(ge=0, le=1_000_000, description="Most tokens.")] = 800


@router.post("/recall", responses=described(Found, what="What was found, the best first."))
async def recall(asked: RecallRequest, access: Reader) -> Response:
    """Find what matters for a query. Nothing relevant returns nothing."""
    found = await access.memory.recall(
        asked.query,
        user=access.user(asked.user),
        limit=asked.limit,
        kinds=asked.kinds,
        session=asked.session,
        agent=asked.agent,
        during=_during(asked),
        valid_at=asked.valid_at,
        as_of=asked.as_of,
        where=asked.where,
        min_relevance=asked.min_relevance,
        explain=asked.explain,
    )
    return reply(Found(list(found), found.notes))


@router.post("/context", responses=described(Context, what="Ready to put in a prompt."))
async def context(asked: ContextRequest, access: Reader) -> Response:
    """Recall, packed into a token budget and fenced as data."""
    packed = await access.memory.context(
        asked.query, user=access.user(asked.user), session=asked.session, budget=asked.budget
    )
    return reply(packed)


@router.post("/why-not", responses=described(WhyNot, what="What kept it out."))
async def why_not(asked: WhyNotRequest, access: Reader) -> Response:
    """Say why a message or fact is not among the results of the same recall."""
    reason = await access.memory.why_not(
        asked.id,
        asked.query,
        user=access.user(asked.user),
        limit=asked.limit,
        kinds=asked.kinds,
        session=asked.session,
        agent=asked.agent,
        during=_during(asked),
        valid_at=asked.valid_at,
        as_of=asked.as_of,
        where=asked.where,
        min_relevance=asked.min_relevance,
    )
    return reply(reason)


def _during(asked: RecallRequest) -> tuple[str | None, str | None] | None:
    return None if asked.during is None else (asked.during[0], asked.during[1])
