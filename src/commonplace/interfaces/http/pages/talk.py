"""Chat with the memory beside it: what was recalled for a turn, the answer as it comes, what was learned from it."""

import secrets
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response, StreamingResponse

from commonplace.domain.values import FactId
from commonplace.interfaces.http.access import Reader, Writer
from commonplace.interfaces.http.events import until_gone
from commonplace.interfaces.http.pages.forms import Filled
from commonplace.interfaces.http.pages.looking import look, service_of
from commonplace.interfaces.http.pages.shell import PageRoute, Whose, page
from commonplace.interfaces.http.routes.chat import told

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@router.get("/talk")
async def talk(access: Reader, user: Whose = "") -> Response:
    seen = look(access, user)
    session = f"web-{secrets.token_hex(4)}"
    return page(access, "talk.html", user=seen.user, session=session, model=service_of(access).model)


@router.post("/talk/turn")
async def turn(access: Writer, form: Filled) -> Response:
    service, user = service_of(access), access.user(form.optional("user"))
    events = service.answering(access.memory).stream(form.text("said"), user=user, session=form.optional("session"))
    streamed = until_gone(told(events, service.model), access.request, service.closing)
    return StreamingResponse(streamed, media_type="text/event-stream")


@router.get("/talk/learned")
async def learned(
    access: Reader, user: Whose = "", fact: Annotated[list[str] | None, Query(max_length=200)] = None
) -> Response:
    """Return what a turn taught, in words, for the script to put beside it."""
    seen = look(access, user)
    facts = await seen.facts([FactId(one) for one in fact or ()])
    return page(access, "learned.html", user=seen.user, facts=list(facts.values()))
