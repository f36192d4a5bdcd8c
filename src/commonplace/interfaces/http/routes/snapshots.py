"""Snapshots: made, listed, verified and pruned where the settings say, never at a place that a request names."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Path, Request, Response
from pydantic import Field

from commonplace.domain.snapshots import Pruned, Snapshot, SnapshotPart, Verified
from commonplace.interfaces.http.access import Access, Admin, Forbidden
from commonplace.interfaces.http.service import Service
from commonplace.interfaces.http.wire import Body, Name, described, reply

router = APIRouter(prefix="/v1/snapshots", tags=["care"])

SnapshotName = Annotated[Name, Path(description="The name of the snapshot, or `latest`.", examples=["latest"])]


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotInfo:
    """A snapshot, as it is listed."""

    name: str
    made_at: datetime
    ledger: str
    embedder: str | None
    counts: Mapping[str, int]
    parts: tuple[SnapshotPart, ...]
    sha256: str
    bytes: int
    encrypted: bool
    format: int


@dataclass(frozen=True, slots=True)
class Snapshots:
    """Snapshots, oldest first."""

    items: list[SnapshotInfo]


class SnapshotRequest(Body):
    pass


class PruneRequest(Body):
    keep: Annotated[int | None, Field(ge=1, le=1_000_000, description="So many of the latest stay.")] = None
    older_than_days: Annotated[float | None, Field(ge=0, le=1_000_000, description="Older ones go.")] = None


@router.get("", responses=described(Snapshots, what="Oldest first."))
async def snapshots(access: Admin, request: Request) -> Response:
    """List the snapshots where the settings say they are (`snapshot_to`). For the operator's own tenant."""
    _check_operator(access, request)
    return reply(Snapshots([_shown(one) for one in await access.memory.snapshots()]))


@router.post("", status_code=201, responses=described(SnapshotInfo, status=201, what="The snapshot."))
async def snapshot(asked: SnapshotRequest, access: Admin, request: Request) -> Response:
    """Write everything, of every tenant, where the settings say (`snapshot_to`). For the operator's own tenant."""
    _check_operator(access, request)
    return reply(_shown(await access.memory.snapshot()), 201)


@router.post("/prune", responses=described(Pruned, what="What went, and what is left."))
async def prune(asked: PruneRequest, access: Admin, request: Request) -> Response:
    """Remove snapshots beyond the latest, or older than so many days. The latest always stays."""
    _check_operator(access, request)
    return reply(await access.memory.prune_snapshots(keep=asked.keep, older_than_days=asked.older_than_days))


@router.post("/{name:segment}/verify", responses=described(Verified, what="What was found."))
async def verify(name: SnapshotName, asked: SnapshotRequest, access: Admin, request: Request) -> Response:
    """Read every byte of a snapshot and compare it with what was saved."""
    _check_operator(access, request)
    return reply(await access.memory.verify_snapshot(name))


def _check_operator(access: Access, request: Request) -> None:
    """A snapshot holds every tenant, so only the tenant that the service was started for may make one."""
    access.everybody()
    service: Service = request.app.state.service
    if access.caller.tenant != service.settings.tenant:
        raise Forbidden("snapshots hold every tenant: only a key of the service's own tenant may make and list them")


def _shown(snapshot: Snapshot) -> SnapshotInfo:
    return SnapshotInfo(
        name=snapshot.name,
        made_at=snapshot.made_at,
        ledger=snapshot.ledger,
        embedder=snapshot.embedder,
        counts=snapshot.counts,
        parts=snapshot.parts,
        sha256=snapshot.sha256,
        bytes=snapshot.bytes,
        encrypted=snapshot.encrypted,
        format=snapshot.format,
    )
