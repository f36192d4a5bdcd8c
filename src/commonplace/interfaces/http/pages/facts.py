"""Facts as a time line, or the facts of one lane as a list. The slider asks for the same page at another moment."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated

from fastapi import APIRouter, Depends, Query
from starlette.responses import Response

from commonplace.domain.inputs import parse_fact_kind
from commonplace.domain.times import parse_moment
from commonplace.domain.values import Fact
from commonplace.interfaces.http.access import Reader
from commonplace.interfaces.http.pages.looking import look
from commonplace.interfaces.http.pages.shell import PageRoute, Whose, page
from commonplace.interfaces.http.pages.timeline import Filter, axis_of, lane, lanes_of

router = APIRouter(route_class=PageRoute, include_in_schema=False)

LANES, LISTED = 30, 100
"""On one page."""
STEPS = 200
"""Of the slider."""
KINDS = ("fact", "preference", "semantic", "context")


@dataclass(frozen=True, slots=True)
class Asked:
    """What a page of facts was asked for, as its address says it."""

    user: Whose = ""
    kind: Annotated[str, Query(max_length=20)] = ""
    text: Annotated[str, Query(max_length=1_000)] = ""
    confidence: Annotated[float, Query(ge=0, le=1)] = 0.0
    as_of: Annotated[str, Query(max_length=40)] = ""
    step: Annotated[int | None, Query(ge=0, le=STEPS)] = None
    page: Annotated[int, Query(ge=1, le=100_000)] = 1

    def filter(self, slider: "Slider") -> Filter:
        return Filter(
            as_of=slider.moment,
            kind=parse_fact_kind(self.kind) if self.kind else "",
            text=self.text,
            confidence=self.confidence,
        )


@dataclass(frozen=True, slots=True)
class Slider:
    """Where the slider stands: from the first that was ever recorded, to now."""

    since: datetime
    until: datetime
    moment: datetime

    @property
    def step(self) -> int:
        return round(STEPS * min((self.moment - self.since) / (self.until - self.since), 1.0))

    @property
    def is_now(self) -> bool:
        return self.moment >= self.until


def slider_of(versions: Sequence[Fact], asked: Asked, now: datetime) -> Slider:
    recorded = min((fact.recorded_at for fact in versions), default=now)
    since = min(recorded, now - timedelta(seconds=1))
    if asked.as_of:
        moment = parse_moment(asked.as_of, name="as_of")
        return Slider(since, now, max(moment, since))
    step = STEPS if asked.step is None else asked.step
    return Slider(since, now, now if step == STEPS else since + (now - since) * step / STEPS)


@router.get("/facts")
async def facts(access: Reader, asked: Annotated[Asked, Depends()]) -> Response:
    seen = look(access, asked.user)
    versions = await seen.versions()
    slider = slider_of(versions, asked, seen.now)
    wanted = asked.filter(slider)
    known = wanted.known(versions)
    axis, lanes = axis_of(known, seen.now), lanes_of(known)
    first = (asked.page - 1) * LANES
    shown = [lane(key, lanes[key], axis, wanted) for key in list(lanes)[first : first + LANES]]
    return page(
        access,
        "facts.html",
        user=seen.user,
        asked=asked,
        slider=slider,
        steps=STEPS,
        kinds=KINDS,
        axis=axis,
        lanes=shown,
        number=len({fact.id for fact in known}),
        more=first + LANES < len(lanes),
    )


@router.get("/facts/lane")
async def one_lane(
    access: Reader, asked: Annotated[Asked, Depends()], subject: str = "user", attribute: str = ""
) -> Response:
    seen = look(access, asked.user)
    versions = await seen.versions()
    slider = slider_of(versions, asked, seen.now)
    wanted = asked.filter(slider)
    found = [fact for fact in wanted.known(versions) if (fact.subject, fact.attribute) == (subject, attribute)]
    found.sort(key=lambda fact: (wanted.is_old(fact), -fact.said_at.timestamp()))
    first = (asked.page - 1) * LISTED
    return page(
        access,
        "lane.html",
        user=seen.user,
        asked=asked,
        slider=slider,
        subject=subject,
        attribute=attribute,
        number=len(found),
        listed=[(fact, wanted.is_old(fact)) for fact in found[first : first + LISTED]],
        more=first + LISTED < len(found),
    )
