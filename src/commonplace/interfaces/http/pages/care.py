"""Care: take everything out, forget with a look first, see the queue and the snapshots."""

import json

from fastapi import APIRouter
from starlette.responses import Response, StreamingResponse

from commonplace.domain.errors import InvalidInput
from commonplace.domain.results import JobInfo
from commonplace.domain.snapshots import Snapshot
from commonplace.domain.values import Json
from commonplace.interfaces.http.access import Access, Forbidden, Reader, Writer
from commonplace.interfaces.http.pages.forms import Filled, Form
from commonplace.interfaces.http.pages.keys import shown_keys
from commonplace.interfaces.http.pages.looking import look, service_of
from commonplace.interfaces.http.pages.shell import PageRoute, Whose, back_to, page

router = APIRouter(route_class=PageRoute, include_in_schema=False)

JOBS = 100
"""Shown at most, of those that failed and of the others."""
EVERY = 10_000
"""Looked through for those of one user."""


@router.get("/care")
async def care(access: Reader, user: Whose = "") -> Response:
    seen = look(access, user)
    jobs = await _jobs(access)
    return page(
        access,
        "care.html",
        user=seen.user,
        receipts=list(reversed(await access.memory.receipts(user=seen.user))),
        jobs=jobs[:JOBS],
        failed=any(job.status == "dead" for job in jobs),
        snapshots=await _snapshots(access),
        keys=await shown_keys(access),
    )


@router.get("/care/export")
async def export(access: Reader, user: Whose = "") -> Response:
    seen = look(access, user)
    held = await access.memory.export(user=seen.user)
    headers = {
        "Content-Disposition": 'attachment; filename="memory.jsonl"',
        "X-Commonplace-Counts": json.dumps(held.counts),
    }
    return StreamingResponse((f"{line}\n" for line in held), media_type="application/x-ndjson", headers=headers)


@router.post("/care/forget")
async def forget(access: Writer, form: Filled) -> Response:
    """Show what would go; and when that was seen, let it go and show the receipt."""
    user, part = access.user(form.optional("user")), _part(form)
    if user is None and not part:
        if access.caller.user is not None:
            raise Forbidden("this key opens the memory of one user only, and the request names the anonymous user")
        part["anonymous"] = True
    sure = form.optional("sure") is not None
    receipt = await access.memory.forget(user=user, dry_run=not sure, **part)  # type: ignore[arg-type]
    hidden = {name: form.fields.get(name, "") for name in ("user", "what", "session", "before", "message")}
    return page(access, "receipt.html", user=user, receipt=receipt, again="/care/forget", hidden=hidden)


@router.post("/care/replay")
async def replay(access: Writer, form: Filled) -> Response:
    user = access.user(form.optional("user"))
    await access.memory.replay([job.id for job in await _jobs(access) if job.status == "dead"])
    return back_to("/care", user=user)


def _part(form: Form) -> dict[str, Json]:
    match form.text("what"):
        case "everything":
            return {}
        case "session":
            return {"session": form.text("session")}
        case "before":
            day = form.text("before")
            return {"before": day if "T" in day else f"{day}T00:00:00+00:00"}
        case "message":
            return {"message": form.text("message")}
        case other:
            raise InvalidInput(f"what={other!r}: expected everything, session, before or message")


async def _jobs(access: Access) -> list[JobInfo]:
    """Return the jobs that the caller may see: of one user, or of all."""
    own = access.caller.user
    found = await access.memory.jobs(limit=EVERY) + await access.memory.jobs(status="dead", limit=EVERY)
    return [job for job in {job.id: job for job in found}.values() if own is None or job.user == own]


async def _snapshots(access: Access) -> list[Snapshot] | None:
    """Return them, the latest first, to who may see all of it; None where they have no place."""
    if not access.caller.may("admin") or access.caller.user is not None:
        return None
    if service_of(access).settings.snapshot_to is None:
        return None
    return list(reversed(await access.memory.snapshots()))
