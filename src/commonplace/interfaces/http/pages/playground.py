"""The playground of recall: what is found for a question, every number behind it, and what differs at a moment."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query
from starlette.responses import Response

from commonplace.domain.results import Context, Recollection, WhyNot
from commonplace.domain.values import Recalled, Why
from commonplace.interfaces.http.access import Access, Reader
from commonplace.interfaces.http.pages.looking import Look, look
from commonplace.interfaces.http.pages.shell import PageRoute, Whose, page

router = APIRouter(route_class=PageRoute, include_in_schema=False)

PARTS = ("relevance", "importance", "recency")


@dataclass(frozen=True, slots=True)
class Question:
    """What the playground was asked, as its address says it."""

    user: Whose = ""
    q: Annotated[str, Query(max_length=10_000)] = ""
    limit: Annotated[int, Query(ge=1, le=100)] = 10
    valid_at: Annotated[str, Query(max_length=40)] = ""
    as_of: Annotated[str, Query(max_length=40)] = ""
    why_not: Annotated[str, Query(max_length=1_000)] = ""

    @property
    def moments(self) -> dict[str, Any]:
        given = {"valid_at": self.valid_at.strip(), "as_of": self.as_of.strip()}
        return {name: _whole_day(value) for name, value in given.items() if value}


@dataclass(frozen=True, slots=True)
class Share:
    """One piece of the stacked bar of a score."""

    name: str
    start: float
    width: float


@dataclass(frozen=True, slots=True)
class Found:
    item: Recalled
    shares: tuple[Share, ...]


@dataclass(frozen=True, slots=True)
class Difference:
    only_then: list[Recalled]
    only_now: list[Recalled]


@router.get("/playground")
async def playground(access: Reader, asked: Annotated[Question, Depends()]) -> Response:
    seen = look(access, asked.user)
    found, context, difference = Recollection(), None, None
    if asked.q.strip():
        found = await _recall(access, seen, asked, asked.moments)
        context = await _context(access, seen, asked)
        difference = await _difference(access, seen, asked, found)
    return page(
        access,
        "playground.html",
        user=seen.user,
        asked=asked,
        found=[Found(item, shares(item)) for item in found],
        notes=found.notes,
        context=context,
        difference=difference,
        absent=await _why_not(access, seen, asked),
    )


def shares(item: Recalled) -> tuple[Share, ...]:
    """Return what each part adds to the score, side by side."""
    made, start = [], 0.0
    for name, width in _parts(item.why):
        made.append(Share(name, start, width))
        start += width
    return tuple(made)


def _parts(why: Why | None) -> list[tuple[str, float]]:
    if why is None:
        return []
    values = {"relevance": why.relevance, "importance": why.importance, "recency": why.recency}
    return [(name, max(why.weights.get(name, 0.0) * values[name], 0.0)) for name in PARTS]


async def _recall(access: Access, seen: Look, asked: Question, moments: dict[str, Any]) -> Recollection:
    return await access.memory.recall(asked.q, user=seen.user, limit=asked.limit, explain=True, **moments)


async def _context(access: Access, seen: Look, asked: Question) -> Context:
    return await access.memory.context(asked.q, user=seen.user)


async def _difference(access: Access, seen: Look, asked: Question, then: Sequence[Recalled]) -> Difference | None:
    if not asked.moments:
        return None
    now = await _recall(access, seen, asked, {})
    ids_then, ids_now = {item.id for item in then}, {item.id for item in now}
    return Difference(
        only_then=[item for item in then if item.id not in ids_now],
        only_now=[item for item in now if item.id not in ids_then],
    )


async def _why_not(access: Access, seen: Look, asked: Question) -> WhyNot | None:
    named = asked.why_not.strip()
    if not named or not asked.q.strip():
        return None
    same = await seen.saying(named)
    item = same[0].id if same else named
    return await access.memory.why_not(item, asked.q, user=seen.user, limit=asked.limit, **asked.moments)


def _whole_day(value: str) -> str:
    """Return a moment with its zone: what a person writes without one is UTC, and a day alone is its beginning."""
    if "T" not in value and " " not in value:
        return f"{value}T00:00:00+00:00"
    return value
