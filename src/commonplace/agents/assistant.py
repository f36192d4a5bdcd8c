"""The assistant: a pydantic-ai agent with our memory, one turn at a time, streamed."""

from collections.abc import AsyncIterator, Sequence
from typing import Any

from pydantic_ai import Agent, AgentRunResultEvent
from pydantic_ai.exceptions import AgentRunError
from pydantic_ai.messages import (
    FunctionToolCallEvent,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    UserPromptPart,
)
from pydantic_ai.models import Model
from pydantic_ai.settings import ModelSettings
from pydantic_ai.usage import UsageLimits

from commonplace.adapters.models.failures import failure, usage_of
from commonplace.agents.capability import MemoryCapability, Record, reply_of
from commonplace.agents.state import MemoryState
from commonplace.agents.turns import Ended, Event, Remembered, Turn, Used, Words
from commonplace.domain.results import Added
from commonplace.domain.values import Message
from commonplace.memory import AsyncMemory
from commonplace.prompts import Prompt

RECENT = 20
"""Messages of the conversation that are in the prompt as they were."""
MOST_REQUESTS = 10
"""Requests of one turn: a model that only ever calls tools is stopped."""


class Assistant:
    """Answers with a model. `name` is what errors call it."""

    def __init__(
        self,
        memory: AsyncMemory,
        model: Model | str,
        *,
        name: str | None = None,
        instructions: str | None = None,
        settings: ModelSettings | None = None,
        budget: int = 800,
    ) -> None:
        self._memory, self._budget = memory, budget
        self._name = name or (model if isinstance(model, str) else model.model_id)
        self._agent: Agent[None, str] = Agent(
            model, instructions=instructions or Prompt.load("chat").text, model_settings=settings, retries=1
        )

    async def respond(self, said: str, *, user: str | None = None, session: str | None = None) -> Turn:
        """Answer, and return the whole turn."""
        async for event in self.stream(said, user=user, session=session):
            if isinstance(event, Ended):
                return event.turn
        raise AssertionError("a stream ends with Ended, or raises")

    async def stream(self, said: str, *, user: str | None = None, session: str | None = None) -> AsyncIterator[Event]:
        """Yield the events of one turn. Raises ModelUnavailable or UnreadableReply; the user's message is kept."""
        state = MemoryState(said=said, user=user, session=session)
        memory = MemoryCapability(self._memory, state=state, budget=self._budget)
        history = await self._history(user, session)
        try:
            async with self._agent.run_stream_events(
                said,
                message_history=history,
                capabilities=[memory],
                usage_limits=UsageLimits(request_limit=MOST_REQUESTS),
            ) as events:
                told = False
                async for event in events:
                    if not told and state.context is not None:
                        told = True
                        memory.keep()  # whoever leaves at the first word leaves a message that is being written
                        yield Remembered(state.context.items, state.context.notes)
                    if isinstance(event, AgentRunResultEvent):
                        yield Ended(_turn(state, memory.kept, event.result))
                    elif (shown := _shown(event)) is not None:
                        yield shown
        except AgentRunError as error:
            raise failure(error, name=self._name) from error

    async def _history(self, user: str | None, session: str | None) -> list[ModelMessage]:
        if session is None:
            return []
        return history_of(await self._memory.session(session, user=user).recent(RECENT))


def history_of(messages: Sequence[Message]) -> list[ModelMessage]:
    """Return a conversation as a model is shown it: what the user and the assistant said."""
    history: list[ModelMessage] = []
    for message in messages:
        if message.role == "user":
            history.append(ModelRequest(parts=[UserPromptPart(content=message.text, timestamp=message.at)]))
        elif message.role == "assistant":
            history.append(ModelResponse(parts=[TextPart(content=message.text)], timestamp=message.at))
    return history


def _shown(event: object) -> Event | None:
    match event:
        case PartStartEvent(part=TextPart(content=text)) if text:
            return Words(text)
        case PartDeltaEvent(delta=TextPartDelta(content_delta=text)) if text:
            return Words(text)
        case FunctionToolCallEvent(part=call):
            return Used(call.tool_name)
    return None


def _turn(state: MemoryState, kept: Record, result: Any) -> Turn:
    added, written = kept.added or Added(messages=()), kept.written
    return Turn(
        reply=reply_of(result),
        session=state.session,
        added=added,
        remembered=state.context.items if state.context else (),
        changes=(*added.changes, *(written.changes if written else ())),
        forgotten=tuple(written.forgotten) if written else (),
        blocks=tuple(written.blocks) if written else (),
        notes=(
            *(state.context.notes if state.context else ()),
            *added.notes,
            *(written.notes if written else ()),
        ),
        usage=usage_of(result.usage),
    )
