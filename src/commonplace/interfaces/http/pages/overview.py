"""The first page: who is remembered, how much there is, what waits; and one user at a glance."""

from dataclasses import dataclass
from datetime import UTC, datetime, time
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from commonplace.interfaces.http.access import Admin, Reader
from commonplace.interfaces.http.pages.growth import growth
from commonplace.interfaces.http.pages.looking import Look, counts, growth_of_all, look, looks, service_of, users
from commonplace.interfaces.http.pages.shell import PageRoute, Whose, back_to, page
from commonplace.interfaces.http.pages.texts import Texts

router = APIRouter(route_class=PageRoute, include_in_schema=False)

SHOWN = 25
"""Users on one page."""
PLOTTED = 10_000
"""Messages that the plot counts: the latest."""


@dataclass(frozen=True, slots=True)
class UserLine:
    user: str | None
    messages: int
    facts: int
    last_seen: datetime | None


@router.get("/")
async def overview(
    access: Reader, search: str = "", place: Annotated[int, Query(alias="page", ge=1, le=100_000)] = 1
) -> Response:
    if access.caller.user is not None:
        return back_to("/user", user=access.caller.user)
    everyone = await users(access)
    found = [scope for scope in everyone if search.casefold() in (scope.user or Texts.anonymous).casefold()]
    found.sort(key=lambda scope: scope.user or "")
    shown = looks(access, found[(place - 1) * SHOWN : place * SHOWN])
    return page(
        access,
        "overview.html",
        search=search,
        found=len(found),
        place=place,
        more=place * SHOWN < len(found),
        users=[await _line(one) for one in shown],
        counts=await counts(access),
    )


@router.get("/doctor")
async def doctor(access: Admin) -> Response:
    """Loaded by the first page when it is there: to look at everything takes a while."""
    access.everybody()
    return page(access, "doctor.html", checkup=await access.memory.doctor())


@router.get("/growth")
async def whole_growth(access: Reader) -> Response:
    """Loaded by the first page when it is there: it counts every message."""
    grown, now = await growth_of_all(access), service_of(access).now()
    days = [(datetime.combine(one.day, time(), UTC), one) for one in grown]
    series = {
        Texts.facts: [(day, one.facts) for day, one in days],
        Texts.messages: [(day, one.messages) for day, one in days],
    }
    return page(access, "growth.html", growth=growth(series, now=now))


@router.get("/user")
async def one_user(access: Reader, user: Whose = "") -> Response:
    seen = look(access, user)
    versions = await seen.versions()
    messages = await seen.latest(PLOTTED)
    learned = [(fact.said_at, 1) for fact in versions if fact.version == 1]
    plot = growth({Texts.facts: learned, Texts.messages: [(one.at, 1) for one in messages]}, now=seen.now)
    return page(access, "user.html", user=seen.user, profile=await access.memory.profile(user=seen.user), growth=plot)


async def _line(seen: Look) -> UserLine:
    counted, latest = await seen.counts(), await seen.latest(1)
    return UserLine(seen.user, counted.messages, counted.facts, latest[0].at if latest else None)
