"""How long things are kept: consolidate, purge, holds."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Response
from pydantic import Field

from commonplace.domain.results import Consolidated, Purged
from commonplace.domain.retention import Hold
from commonplace.interfaces.http.access import Admin, Writer
from commonplace.interfaces.http.wire import Body, User, UserQuery, described, reply

router = APIRouter(prefix="/v1", tags=["care"])


@dataclass(frozen=True, slots=True)
class Holds:
    """Users of whom nothing may be removed."""

    items: list[Hold]


class ConsolidateRequest(Body):
    user: User = None
    everyone: Annotated[bool, Field(description="Every user of the tenant.")] = False
    dry_run: Annotated[bool, Field(description="Change nothing.")] = False


class PurgeRequest(Body):
    dry_run: Annotated[bool, Field(description="Only say what would go.")] = False


class HoldRequest(Body):
    user: User = None
    reason: str = ""


@router.post("/consolidate", responses=described(Consolidated, what="What was done."))
async def consolidate(asked: ConsolidateRequest, access: Writer) -> Response:
    """Forget what is due, merge facts that say the same, sum up sessions that are over."""
    if asked.everyone:
        access.everybody()
    user = None if asked.everyone and asked.user is None else access.user(asked.user)
    done = await access.memory.consolidate(user=user, everyone=asked.everyone, dry_run=asked.dry_run)
    return reply(done)


@router.post("/purge", responses=described(Purged, what="What is gone."))
async def purge(asked: PurgeRequest, access: Admin) -> Response:
    """Forget what has expired, or is older than its retention allows."""
    access.everybody()
    return reply(await access.memory.purge(dry_run=asked.dry_run))


@router.get("/holds", responses=described(Holds, what="Who is on hold."))
async def holds(access: Admin) -> Response:
    """List the users of whom nothing may be removed."""
    access.everybody()
    return reply(Holds(await access.memory.holds()))


@router.post("/holds", status_code=201, responses=described(Hold, status=201, what="On hold from now on."))
async def hold(asked: HoldRequest, access: Admin) -> Response:
    """Let nobody remove anything of a user, until it is released."""
    access.everybody()
    return reply(await access.memory.hold(user=access.user(asked.user), reason=asked.reason), 201)


@router.delete("/holds", status_code=204, response_class=Response)
async def release(access: Admin, user: UserQuery = None) -> Response:
    """End a hold."""
    access.everybody()
    await access.memory.release(user=access.user(user))
    return Response(status_code=204)
