"""POST /chat: one turn of a conversation that remembers. Without a model it quotes from memory, and says so."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Annotated, assert_never

from fastapi import APIRouter, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import Field

from commonplace.agents.turns import Ended, Event, Remembered, Turn, Used, Words
from commonplace.domain.errors import CommonplaceError
from commonplace.domain.usage import Usage
from commonplace.domain.values import FactChange, MessageId, Recalled
from commonplace.interfaces.http.access import Writer
from commonplace.interfaces.http.events import event, until_gone
from commonplace.interfaces.http.problems import status_of
from commonplace.interfaces.http.service import Service
from commonplace.interfaces.http.wire import EVENTS, Body, Name, described, reply

router = APIRouter(tags=["chat"])

NO_MODEL = "no language model is configured, so this is quoted from memory"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatReply:
    """One turn of a conversation."""

    response: str
    memories_created: int
    memories_retrieved: int
    model: str | None
    """Who answered; None: nobody, it is quoted from memory."""
    session_id: str | None
    messages: tuple[MessageId, ...]
    created: tuple[FactChange, ...]
    retrieved: tuple[Recalled, ...]
    pending: int
    """How many messages are still to be learned from."""
    notes: tuple[str, ...]
    usage: Usage


class ChatRequest(Body):
    user_input: Annotated[str, Field(min_length=1, examples=["What productivity tools do I use?"])]
    user_id: Annotated[Name | None, Field(description="Who speaks. None: the anonymous user, or the key's own.")] = None
    session_id: Annotated[Name | None, Field(description="The conversation.")] = None
    stream: Annotated[bool, Field(description="Answer as server-sent events.")] = False


ANSWER = described(ChatReply, what="The answer. With `stream`, server-sent events.")
ANSWER[200]["content"]["text/event-stream"] = EVENTS


@router.post("/chat", responses=ANSWER)
async def chat(asked: ChatRequest, access: Writer, request: Request) -> Response:
    """Answer with what is remembered, and remember what was said.

    With `stream` the answer comes as server-sent events: `retrieved`, `delta` with pieces of the text, `tool`, and
    `done` with the whole turn, or `error` with a problem.
    """
    service: Service = request.app.state.service
    events = service.answering(access.memory).stream(
        asked.user_input, user=access.user(asked.user_id), session=asked.session_id
    )
    if asked.stream:
        streamed = until_gone(told(events, service.model), request, service.closing)
        return StreamingResponse(streamed, media_type="text/event-stream")
    async for one in events:
        if isinstance(one, Ended):
            return reply(_reply(one.turn, service.model))
    raise AssertionError("a turn ends with Ended, or raises")


async def told(events: AsyncIterator[Event], model: str | None) -> AsyncIterator[bytes]:
    """Yield a turn as events. It has begun to be answered when something fails, so a failure is an event, too."""
    try:
        async for one in events:
            match one:
                case Remembered(items=items):
                    yield event("retrieved", {"items": items})
                case Words(text=text):
                    yield event("delta", {"text": text})
                case Used(tool=tool):
                    yield event("tool", {"name": tool})
                case Ended(turn=turn):
                    yield event("done", _reply(turn, model))
                case _:
                    assert_never(one)
    except CommonplaceError as error:
        yield event("error", {"status": status_of(error), "error": type(error).__name__, "detail": str(error)})


def _reply(turn: Turn, model: str | None) -> ChatReply:
    return ChatReply(
        response=turn.reply,
        memories_created=len(turn.changes),
        memories_retrieved=len(turn.remembered),
        model=model,
        session_id=turn.session,
        messages=turn.added.messages,
        created=turn.changes,
        retrieved=turn.remembered,
        pending=turn.added.pending,
        notes=turn.notes if model else (NO_MODEL, *turn.notes),
        usage=turn.usage,
    )
