"""POST /chat: one turn of a conversation that remembers. Without a model it quotes from memory, and says so."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import Field

from commonplace.domain.results import Recollection
from commonplace.domain.values import FactChange, MessageId, Recalled
from commonplace.interfaces.http.access import Access, Writer
from commonplace.interfaces.http.events import event, until_gone
from commonplace.interfaces.http.service import Service
from commonplace.interfaces.http.wire import Body, Name, described, reply

router = APIRouter(tags=["chat"])

SHOWN = 5
NO_MODEL = "No language model is configured, so this is quoted from memory."


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One turn of a conversation."""

    response: str
    memories_created: int
    memories_retrieved: int
    model: str | None
    """Who answered; None: nobody, it is quoted from memory."""
    session_id: str | None
    message: MessageId
    created: tuple[FactChange, ...]
    retrieved: tuple[Recalled, ...]
    notes: tuple[str, ...] = ()


class ChatRequest(Body):
    user_input: Annotated[str, Field(min_length=1, examples=["What productivity tools do I use?"])]
    user_id: Annotated[Name | None, Field(description="Who speaks. None: the anonymous user, or the key's own.")] = None
    session_id: Annotated[Name | None, Field(description="The conversation.")] = None
    stream: Annotated[bool, Field(description="Answer as server-sent events.")] = False


@router.post("/chat", responses=described(Turn, what="The answer. With `stream`, server-sent events."))
async def chat(asked: ChatRequest, access: Writer, request: Request) -> Response:
    """Answer with what is remembered, and remember what was said.

    With `stream` the answer comes as server-sent events: `retrieved`, then `delta` with pieces of the text, then `done`
    with the whole turn.
    """
    user = access.user(asked.user_id)
    if not asked.stream:
        found = await _retrieve(asked, access, user)
        return reply(await _turn(asked, access, user, found))
    service: Service = request.app.state.service
    events = until_gone(_streamed(asked, access, user), request, service.closing)
    return StreamingResponse(events, media_type="text/event-stream")


async def _streamed(asked: ChatRequest, access: Access, user: str | None) -> AsyncIterator[bytes]:
    found = await _retrieve(asked, access, user)
    yield event("retrieved", list(found))
    turn = await _turn(asked, access, user, found)
    yield event("delta", {"text": turn.response})
    yield event("done", turn)


async def _retrieve(asked: ChatRequest, access: Access, user: str | None) -> Recollection:
    return await access.memory.recall(asked.user_input, user=user, limit=SHOWN)


async def _turn(asked: ChatRequest, access: Access, user: str | None, found: Recollection) -> Turn:
    """Write after the answer was found: what is said now must not answer itself."""
    added = await access.memory.add(asked.user_input, user=user, session=asked.session_id)
    return Turn(
        response=from_memory(found),
        memories_created=len(added.changes),
        memories_retrieved=len(found),
        model=None,
        session_id=asked.session_id,
        message=added.messages[0],
        created=added.changes,
        retrieved=tuple(found),
        notes=(NO_MODEL, *found.notes, *added.notes),
    )


def from_memory(found: Recollection) -> str:
    if not found:
        return f"I remember nothing about that. {NO_MODEL}"
    lines = "\n".join(f"- {item.text}" + (f" ({item.note})" if item.note else "") for item in found)
    return f"Here is what I remember:\n{lines}\n{NO_MODEL}"
