"""Sessions: conversations, their state for a while, their last messages."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Path, Query, Response
from pydantic import Field

from commonplace.domain.errors import NotFound
from commonplace.domain.results import Window
from commonplace.domain.values import Message, Metadata, SessionInfo
from commonplace.interfaces.http.access import Reader, Writer
from commonplace.interfaces.http.wire import Body, Name, User, UserQuery, described, reply
from commonplace.interfaces.http.wire import Metadata as Values

router = APIRouter(prefix="/v1/sessions", tags=["sessions"])

SessionName = Annotated[Name, Path(description="The conversation.", examples=["s1"])]
Ttl = Annotated[
    float | None, Field(gt=0, le=10 * 366 * 86_400, description="Seconds it is kept after its use. None: as set.")
]


@dataclass(frozen=True, slots=True)
class Sessions:
    """Active conversations, the latest seen first."""

    items: list[SessionInfo]


@dataclass(frozen=True, slots=True)
class Recent:
    """The last messages of a conversation, oldest first."""

    items: list[Message]


@dataclass(frozen=True, slots=True)
class State:
    """What a conversation keeps for a while."""

    state: Metadata


class StateRequest(Body):
    values: Annotated[Values, Field(description="Merged into the state; a value of null removes its key.")]
    expected: Annotated[
        Values | None, Field(description="What some keys must still hold, null for one that must not be there.")
    ] = None
    user: User = None
    ttl: Ttl = None


class TouchRequest(Body):
    user: User = None
    ttl: Ttl = None


class EndRequest(Body):
    user: User = None


@router.get("", responses=described(Sessions, what="The latest seen first."))
async def sessions(access: Reader, user: UserQuery = None) -> Response:
    """List the active conversations of a user."""
    return reply(Sessions(await access.memory.sessions(user=access.user(user))))


@router.get("/{session:segment}", responses=described(SessionInfo, what="When it was, and how long it is kept."))
async def info(session: SessionName, access: Reader, user: UserQuery = None) -> Response:
    """Return one conversation."""
    found = await access.memory.session(session, user=access.user(user)).info()
    if found is None:
        raise NotFound("session", session)
    return reply(found)


@router.get("/{session:segment}/state", responses=described(State, what="Empty when there is none."))
async def state(session: SessionName, access: Reader, user: UserQuery = None) -> Response:
    """Return the state and keep it alive."""
    return reply(State(await access.memory.session(session, user=access.user(user)).get()))


@router.patch("/{session:segment}/state", responses=described(State, what="The state now."))
async def update(session: SessionName, asked: StateRequest, access: Writer) -> Response:
    """Merge values into the state; refused if it is not what is expected."""
    held = access.memory.session(session, user=access.user(asked.user), ttl=asked.ttl)
    if asked.expected is not None:
        return reply(State(await held.exchange(asked.values, expected=asked.expected)))
    return reply(State(await held.update(asked.values)))


@router.post("/{session:segment}/touch", responses=described(SessionInfo, what="How long it is kept now."))
async def touch(session: SessionName, asked: TouchRequest, access: Writer) -> Response:
    """Keep it alive."""
    return reply(await access.memory.session(session, user=access.user(asked.user), ttl=asked.ttl).touch())


@router.post("/{session:segment}/end", status_code=204, response_class=Response)
async def end(session: SessionName, asked: EndRequest, access: Writer) -> Response:
    """Drop the state. The messages stay in memory."""
    await access.memory.session(session, user=access.user(asked.user)).end()
    return Response(status_code=204)


@router.get("/{session:segment}/window", responses=described(Window, what="What fits of it."))
async def window(
    session: SessionName,
    access: Reader,
    user: UserQuery = None,
    budget: Annotated[int, Query(ge=0, le=1_000_000, description="Most tokens.")] = 2_000,
    query: Annotated[str | None, Query(description="What is asked next.")] = None,
) -> Response:
    """Return as much of a conversation as fits: its last messages, and a summary of what came before."""
    return reply(await access.memory.session(session, user=access.user(user)).window(budget, query=query))


@router.get("/{session:segment}/recent", responses=described(Recent, what="Oldest first."))
async def recent(
    session: SessionName,
    access: Reader,
    user: UserQuery = None,
    n: Annotated[int, Query(ge=0, le=10_000, description="At most so many.")] = 20,
) -> Response:
    """Return the last messages of a conversation."""
    return reply(Recent(list(await access.memory.session(session, user=access.user(user)).recent(n))))
