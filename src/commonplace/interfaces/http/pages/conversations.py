"""Conversations: which there are, what was said, what each message taught, and what summaries cover."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from commonplace.domain.media import IMAGES
from commonplace.domain.values import Message, SessionId
from commonplace.interfaces.http.access import Reader
from commonplace.interfaces.http.pages.looking import look
from commonplace.interfaces.http.pages.shell import PageRoute, Whose, page
from commonplace.interfaces.http.routes.attachments import served

router = APIRouter(route_class=PageRoute, include_in_schema=False)

LOOKED_THROUGH = 1_000
"""Messages, the latest, whose sessions are listed beside those that are active."""
SHOWN = 50
"""Messages on one page."""


@dataclass(frozen=True, slots=True)
class SessionLine:
    session: SessionId | None
    messages: int
    last_seen: datetime


def session_lines(messages: Sequence[Message]) -> list[SessionLine]:
    """Return the sessions of messages, which come newest first."""
    latest: dict[SessionId | None, datetime] = {}
    counted: dict[SessionId | None, int] = {}
    for message in messages:
        latest.setdefault(message.session, message.at)
        counted[message.session] = counted.get(message.session, 0) + 1
    return [SessionLine(session, counted[session], at) for session, at in latest.items()]


@router.get("/conversations")
async def conversations(access: Reader, user: Whose = "") -> Response:
    seen = look(access, user)
    lines = session_lines(await seen.latest(LOOKED_THROUGH))
    listed = {line.session for line in lines}
    active = [one for one in await access.memory.sessions(user=seen.user) if one.id not in listed]
    lines += [SessionLine(one.id, one.messages, one.last_seen) for one in active]
    return page(access, "conversations.html", user=seen.user, sessions=lines)


@router.get("/conversations/attachment")
async def attachment(access: Reader, id: Annotated[str, Query(max_length=100)], user: Whose = "") -> Response:
    """A file as it is: shown if it is an image that cannot hold a script, else saved."""
    return await served(access, id, look(access, user).user)


@router.get("/conversations/one")
async def conversation(
    access: Reader,
    user: Whose = "",
    session: Annotated[str, Query(max_length=1_000)] = "",
    cursor: Annotated[str | None, Query(max_length=1_000)] = None,
) -> Response:
    seen = look(access, user)
    messages = await access.memory.messages(user=seen.user, session=session or None, limit=SHOWN, cursor=cursor)
    ids = [message.id for message in messages]
    return page(
        access,
        "conversation.html",
        user=seen.user,
        session=session,
        messages=messages.items,
        older=messages.next_cursor,
        taught=await seen.taught(ids),
        images=IMAGES,
        summaries=await seen.summaries(SessionId(session)) if session else (),
    )
