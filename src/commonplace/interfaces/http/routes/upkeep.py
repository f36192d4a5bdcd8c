"""Looking after a tenant: stats, users, doctor, reindex."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Response
from pydantic import Field

from commonplace.domain.results import Checkup, PartitionStats, Reindexed, Stats
from commonplace.interfaces.http.access import Admin, Reader
from commonplace.interfaces.http.wire import Body, described, reply

router = APIRouter(tags=["upkeep"])


@dataclass(frozen=True, slots=True)
class Users:
    """The users of a tenant, the largest first."""

    items: list[PartitionStats]


class DoctorRequest(Body):
    repair: Annotated[bool, Field(description="Mend what can be mended.")] = False


class ReindexRequest(Body):
    embed: Annotated[bool, Field(description="Make every vector anew, too.")] = False
    users: Annotated[
        list[str | None] | None, Field(description="Only these; null among them is the anonymous user.")
    ] = None


@router.get("/stats", responses=described(Stats, what="Counts and sizes."))
@router.get("/v1/stats", responses=described(Stats, what="Counts and sizes."))
async def stats(access: Reader) -> Response:
    """Return counts, sizes, and what answers which user. For keys that open every user."""
    access.everybody()
    return reply(await access.memory.stats())


@router.get("/v1/users", responses=described(Users, what="The largest first."))
async def users(access: Reader) -> Response:
    """List the largest users of the tenant. For keys that open every user."""
    access.everybody()
    return reply(Users(list((await access.memory.stats()).partitions)))


@router.post("/v1/doctor", responses=described(Checkup, what="What was found."))
async def doctor(asked: DoctorRequest, access: Admin) -> Response:
    """Look for drift between the ledger, the caches and the index; mend it if asked."""
    access.everybody()
    return reply(await access.memory.doctor(repair=asked.repair))


@router.post("/v1/reindex", responses=described(Reindexed, what="What was built."))
async def reindex(asked: ReindexRequest, access: Admin) -> Response:
    """Build every index anew from the ledger, or these users'."""
    access.everybody()
    return reply(await access.memory.reindex(embed=asked.embed, users=asked.users))
