"""Keeping what was said, and reading it again."""

import hashlib
from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request, Response
from pydantic import Discriminator, Field, Tag

from commonplace.domain.claims import Proposal, Standing
from commonplace.domain.offers import LONGEST_CAPTION, MOST
from commonplace.domain.results import Added, Page
from commonplace.domain.times import parse_optional_moment
from commonplace.domain.values import FactKind, Message, Role
from commonplace.interfaces.http.access import Reader, Writer
from commonplace.interfaces.http.wire import (
    Body,
    Cursor,
    Limit,
    Metadata,
    Moment,
    Name,
    User,
    UserQuery,
    described,
    reply,
)

router = APIRouter(prefix="/v1", tags=["messages"])

Text = Annotated[str, Field(min_length=1, examples=["I use Shram and Magnet as productivity tools"])]


MessageName = Annotated[Name, Path(description="The id of the message.")]
Share = Annotated[float, Field(ge=0, le=1)]


class Carried(Body):
    """A file that was kept before, as `POST /v1/attachments` answered."""

    id: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
    name: Name | None = None
    type: Annotated[str | None, Field(max_length=200, examples=["image/png"])] = None
    caption: Annotated[str | None, Field(max_length=LONGEST_CAPTION)] = None


Attached = Annotated[list[Carried], Field(max_length=MOST, description="Files that the message carries.")]


class Said(Body):
    content: Text
    role: Role = "user"
    name: Name | None = None
    at: Moment | None = None
    id: Name | None = None
    metadata: Metadata | None = None
    expires_at: Moment | None = None
    attachments: Attached | None = None


def _form(content: object) -> str | None:
    """Return what it is meant as, so that a refusal speaks of that alone."""
    if isinstance(content, str):
        return "text"
    return "messages" if isinstance(content, list) else "message" if isinstance(content, dict | Said) else None


OneSaid = Annotated[
    Annotated[Text, Tag("text")] | Annotated[Said, Tag("message")],
    Discriminator(_form, custom_error_type="form", custom_error_message="expected a text or a message"),
]
Content = Annotated[
    Annotated[Text, Tag("text")] | Annotated[Said, Tag("message")] | Annotated[list[OneSaid], Tag("messages")],
    Discriminator(
        _form, custom_error_type="form", custom_error_message="expected a text, a message, or a list of them"
    ),
]


class AddRequest(Body):
    content: Annotated[Content, Field(description="A text that the user said, a message, or a list of them.")]
    user: User = None
    session: Annotated[Name | None, Field(description="The conversation.")] = None
    agent: Name | None = None
    at: Annotated[Moment | None, Field(description="When it was said. None: now.")] = None
    metadata: Metadata | None = None
    expires_at: Moment | None = None
    learn: Annotated[bool, Field(description="Learn facts from it.")] = True
    wait: Annotated[bool, Field(description="Wait until it is learned from.")] = False
    attachments: Attached | None = None


class Proposed(Body):
    quote: Annotated[str, Field(description="The words of the message it rests on.", examples=["I use Shram"])]
    text: Annotated[str, Field(examples=["Uses Shram"])]
    subject: Annotated[str, Field(examples=["user"])]
    attribute: Annotated[str, Field(examples=["uses"])]
    value: Annotated[str, Field(examples=["Shram"])]
    standing: Standing = "holds"
    kind: FactKind | None = None
    confidence: Share = 0.8
    importance: Share | None = None
    valid_from: Moment | None = None
    valid_to: Moment | None = None


class ProposeRequest(Body):
    proposals: list[Proposed]
    user: User = None
    by: Annotated[Name, Field(description="Who says so.")] = "agent"


@router.post("/messages", status_code=201, responses=described(Added, status=201, what="Durable, and found by recall."))
async def add(asked: AddRequest, access: Writer, request: Request) -> Response:
    """Keep what was said, and learn from it. The same message id twice is one message."""
    added = await access.memory.add(
        _content(asked.content, request.scope["state"].get("idempotency_key")),
        user=access.user(asked.user),
        session=asked.session,
        agent=asked.agent,
        at=asked.at,
        metadata=asked.metadata,
        expires_at=asked.expires_at,
        learn=asked.learn,
        wait=asked.wait,
        attachments=None if asked.attachments is None else [one.model_dump() for one in asked.attachments],
    )
    return reply(added, 201)


def _content(content: str | Said | Sequence[str | Said], again: str | None) -> str | list[dict[str, Any]]:
    """Return what was said. With an Idempotency-Key the ids follow from it: a server may die before it has answered."""
    if isinstance(content, str) and again is None:
        return content
    items = [content] if isinstance(content, str | Said) else content
    said = [{"content": item} if isinstance(item, str) else item.model_dump(exclude_none=True) for item in items]
    for place, message in enumerate(said):
        if again is not None:
            message.setdefault(
                "id", hashlib.sha256(f"{again}:{place}".encode("utf-8", "surrogatepass")).hexdigest()[:32]
            )
    return said


@router.post("/messages/{message_id:segment}/proposals", responses=described(Added, what="What was learned."))
async def propose(message_id: MessageName, asked: ProposeRequest, access: Writer) -> Response:
    """Learn what somebody says that a message of the user states. What the message does not say is dropped."""
    proposals = [_proposal(one) for one in asked.proposals]
    return reply(await access.memory.propose(message_id, proposals, user=access.user(asked.user), by=asked.by))


def _proposal(asked: Proposed) -> Proposal:
    moments = {name: parse_optional_moment(getattr(asked, name), name=name) for name in ("valid_from", "valid_to")}
    return Proposal(**(asked.model_dump() | moments))


@router.get("/messages", responses=described(Page[Message], what="The last ones, oldest first."))
async def messages(
    access: Reader,
    user: UserQuery = None,
    session: Annotated[Name | None, Query(description="Of this conversation only.")] = None,
    limit: Limit = 20,
    cursor: Cursor = None,
) -> Response:
    """Return the last messages; `next_cursor` leads to those before them."""
    return reply(await access.memory.messages(session=session, user=access.user(user), limit=limit, cursor=cursor))


@router.get("/messages/{message_id:segment}", responses=described(Message, what="The message."))
async def message(message_id: MessageName, access: Reader, user: UserQuery = None) -> Response:
    """Return one message."""
    return reply(await access.memory.message(message_id, user=access.user(user)))
