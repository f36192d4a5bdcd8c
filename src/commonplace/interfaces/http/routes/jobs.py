"""Jobs: what is still to be learned from, what failed, and how it goes on."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import Field

from commonplace.domain.results import JobInfo
from commonplace.interfaces.http.access import Access, Reader, Writer
from commonplace.interfaces.http.events import event, until_gone
from commonplace.interfaces.http.service import Service
from commonplace.interfaces.http.wire import Body, Limit, Name, described, reply, stream_described

router = APIRouter(prefix="/v1/jobs", tags=["jobs"])

EVERY = 10_000
"""Jobs looked through for those of one user."""
PAUSE = 0.5
"""Seconds between two looks at the queue."""
Status = Literal["queued", "running", "dead"]


@dataclass(frozen=True, slots=True)
class Jobs:
    """What is still to be learned from."""

    items: list[JobInfo]


@dataclass(frozen=True, slots=True)
class Replayed:
    """How many jobs are tried again."""

    replayed: int


class ReplayRequest(Body):
    jobs: Annotated[list[Name] | None, Field(description="Their ids. None: all that failed for good.")] = None


@router.get("", responses=described(Jobs, what="In the order in which they are due."))
async def jobs(
    access: Reader,
    status: Annotated[Status | None, Query(description="`dead`: failed for good.")] = None,
    limit: Limit = 100,
) -> Response:
    """Return the messages that are still to be learned from."""
    return reply(Jobs((await _jobs(access, status))[:limit]))


@router.post("/replay", responses=described(Replayed, what="How many."))
async def replay(asked: ReplayRequest, access: Writer) -> Response:
    """Try again what failed for good."""
    wanted = asked.jobs
    if access.caller.user is not None:
        own = [job.id for job in await _jobs(access, "dead")]
        wanted = own if wanted is None else [job for job in wanted if job in own]
    return reply(Replayed(await access.memory.replay(wanted)))


@router.get(
    "/follow",
    responses=stream_described("One event for each change of the queue, until nothing waits."),
    response_class=StreamingResponse,
)
async def follow(access: Reader, request: Request) -> Response:
    """Follow the queue as server-sent events: `jobs` with what waits, at each change, and `done` at the end."""
    service: Service = request.app.state.service
    return StreamingResponse(
        until_gone(_followed(access, service), request, service.closing), media_type="text/event-stream"
    )


async def _followed(access: Access, service: Service) -> AsyncIterator[bytes]:
    shown: list[JobInfo] | None = None
    while not service.closing.is_set():
        waiting = [job for job in await _jobs(access, None) if job.status != "dead"]
        if waiting != shown:
            shown = waiting
            yield event("jobs", Jobs(waiting))
        if not waiting:
            yield event("done", {})
            return
        await asyncio.sleep(PAUSE)


async def _jobs(access: Access, status: Status | None) -> list[JobInfo]:
    """Return the jobs that the caller may see: of one user, or of all."""
    own = access.caller.user
    found = await access.memory.jobs(status=status, limit=EVERY)
    return found if own is None else [job for job in found if job.user == own]
