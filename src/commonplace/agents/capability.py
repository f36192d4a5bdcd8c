"""Memory for any pydantic-ai agent: recall in its instructions, tools, and a record of each run.

`after_run` is skipped when a run fails, so the record is made around the run: whatever happens, the user's message is
kept; the reply, and what the agent proposed, only if the run ended well. The message is written while the model thinks:
the first word waits for recall alone.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import TypeAdapter
from pydantic_ai import RunContext
from pydantic_ai.agent import AgentRunResult
from pydantic_ai.capabilities import AbstractCapability, WrapRunHandler
from pydantic_ai.messages import ModelResponse, UserContent
from pydantic_ai.toolsets import AbstractToolset

from commonplace.agents.persisting import Written, persist
from commonplace.agents.state import MemoryState
from commonplace.agents.tools import RUNS, Run, toolset
from commonplace.domain.errors import ModelRefused, ModelUnavailable
from commonplace.domain.results import Added, Context
from commonplace.memory import AsyncMemory
from commonplace.stopping import stop

LATER = 0.01
"""Seconds after recall at which the message is written: the request to the model goes out first."""
Whose = str | None | Callable[[RunContext[Any]], str | None]
"""A name, or how to find it in the context of a run: `lambda run: run.deps.user_id`."""


@dataclass(slots=True)
class Record:
    """What has been written of a run."""

    run: Run | None = None
    recalling: "asyncio.Task[Context] | None" = None
    keeping: "asyncio.Task[Added] | None" = None
    added: Added | None = None
    written: Written | None = None


@dataclass
class MemoryCapability(AbstractCapability[Any]):
    """Give it to an agent: `Agent(model, capabilities=[MemoryCapability(memory, user="u1")])`.

    `session` is the run's conversation unless it is given. Without `record` nothing is written: for an agent whose
    messages are kept by a conversation store on the same memory.
    """

    memory: AsyncMemory
    user: Whose = None
    session: Whose = None
    budget: int = 800
    tools: bool = True
    record: bool = True
    state: MemoryState | None = field(default=None, repr=False)
    """Of the run going on. Given beforehand, it can be looked at afterwards."""
    kept: Record = field(default_factory=Record, repr=False)

    async def for_run(self, ctx: RunContext[Any]) -> "MemoryCapability":
        state = self.state or MemoryState(
            said=text_of(ctx.prompt),
            user=_named(self.user, ctx),
            session=_named(self.session, ctx) or ctx.conversation_id,
        )
        own = self if self.state is not None else replace(self, state=state, kept=Record())
        own.kept.run = Run(self.memory, state)
        if ctx.run_id is not None:
            RUNS[ctx.run_id] = own.kept.run
        if state.context is None:
            # At once: while the question is embedded, the agent gets ready.
            own.kept.recalling = asyncio.create_task(own._recalled(state), name="commonplace-recall")
        return own

    def get_instructions(self) -> Callable[[RunContext[Any]], Any]:
        return self._recall

    def get_toolset(self) -> AbstractToolset[Any] | None:
        return toolset() if self.tools else None

    async def _recall(self, ctx: RunContext[Any]) -> str | None:
        state = self._state()
        if state.context is None:
            state.context = await (self.kept.recalling or self._recalled(state))
            asyncio.get_running_loop().call_later(LATER, self.keep)
        return str(state.context) or None

    async def _recalled(self, state: MemoryState) -> Context:
        return await self.memory.context(state.said, user=state.user, session=state.session, budget=self.budget)

    async def wrap_run(self, ctx: RunContext[Any], *, handler: WrapRunHandler) -> AgentRunResult[Any]:
        try:
            result = await handler()
            _refuse_unfinished(result)
        finally:
            if self.kept.recalling is not None:
                await stop(self.kept.recalling)
            # A second Ctrl-C must not cut the write short, either.
            if (keeping := self.keep()) is not None:
                self.kept.added = await asyncio.shield(keeping)
        if self.record:
            await self._record(ctx, result)
        return result

    def keep(self) -> "asyncio.Task[Added] | None":
        """Begin to write the user's message, unless that was begun."""
        state = self._state()
        if self.record and self.kept.keeping is None and state.said.strip():
            self.kept.keeping = asyncio.create_task(
                self.memory.add(state.said, user=state.user, session=state.session), name="commonplace-keep"
            )
        return self.kept.keeping

    async def _record(self, ctx: RunContext[Any], result: AgentRunResult[Any]) -> None:
        state, added = self._state(), self.kept.added
        reply = reply_of(result)
        if reply.strip():
            await self.memory.add({"role": "assistant", "content": reply}, user=state.user, session=state.session)
        message = added.messages[0] if added else None
        self.kept.written = await persist(self.memory, state, message, by=f"{ctx.model.model_id}/agent")

    def _state(self) -> MemoryState:
        if self.state is None:
            raise RuntimeError("MemoryCapability was not told of a run: give it to an Agent as a capability")
        return self.state


def text_of(prompt: "str | list[UserContent] | Any") -> str:
    """Return the words of a prompt; pictures and files are left out."""
    if prompt is None or isinstance(prompt, str):
        return prompt or ""
    parts = [part if isinstance(part, str) else getattr(part, "content", "") for part in prompt]
    return "\n".join(part for part in parts if isinstance(part, str) and part)


def reply_of(result: AgentRunResult[Any]) -> str:
    """Return what was answered, as text: an output of another type as JSON."""
    output = result.output
    if isinstance(output, str):
        return output
    if type(output).__name__ == "DeferredToolRequests":
        return ""
    return TypeAdapter(Any).dump_json(output, fallback=str).decode()


def _refuse_unfinished(result: AgentRunResult[Any]) -> None:
    """A refusal is no reply, and neither is an answer whose line went dead: a service always says why it has ended."""
    last = next((one for one in reversed(result.all_messages()) if isinstance(one, ModelResponse)), None)
    if last is None:
        return
    if last.finish_reason == "content_filter":
        raise ModelRefused(f"{last.model_name} declined to answer this")
    if last.provider_url is not None and not _ended(last):
        raise ModelUnavailable(f"{last.provider_name}:{last.model_name} broke off in the middle of its answer")


def _ended(last: ModelResponse) -> bool:
    """Whether the service said that this is all: an OpenAI stream that just stops is taken for a whole one."""
    told = last.provider_details is None or "finish_reason" in last.provider_details or last.usage.total_tokens > 0
    return last.finish_reason is not None and told


def _named(whose: Whose, ctx: RunContext[Any]) -> str | None:
    return whose(ctx) if callable(whose) else whose
