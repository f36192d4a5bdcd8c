"""Microsoft Agent Framework: a context provider that recalls before a run and learns after it, and a history provider.

A run that fails is not kept by either: the framework calls a provider again only when there is a response.
"""

from collections.abc import Mapping, Sequence
from typing import Any, cast

import anyio.to_thread

from commonplace.domain.values import Json, Message, Role
from commonplace.integrations.extras import needing
from commonplace.integrations.transcript import Line, Transcript
from commonplace.sync import Memory

with needing("agent-framework"):
    import agent_framework
    from agent_framework import AgentSession, ContextProvider, HistoryProvider, SessionContext, SupportsAgentRun

KEY = "agent_framework"
ROLES: Mapping[str, Role] = {"user": "user", "assistant": "assistant", "system": "system"}
UNNAMED = "agent-framework"
"""The conversation of a run without a session."""


class MemoryContextProvider(ContextProvider):
    """What is known of the user, as instructions of the run; what is said in it is kept and learned from.

    With `keep=False` it only recalls: beside a `MemoryHistoryProvider`, which keeps every message itself.
    """

    def __init__(
        self,
        memory: Memory,
        *,
        user: str | None = None,
        budget: int = 800,
        keep: bool = True,
        source_id: str = "commonplace",
    ) -> None:
        super().__init__(source_id)
        self._memory, self._user, self._budget, self._keep = memory, user, budget, keep

    async def before_run(
        self, *, agent: SupportsAgentRun, session: AgentSession, context: SessionContext, state: dict[str, Any]
    ) -> None:
        said = [message.text for message in context.input_messages if message.role == "user"]

        def recall() -> str:
            query = said[-1] if said else ""
            known = self._memory.context(query, user=self._user, session=context.session_id, budget=self._budget)
            return str(known)

        if known := await anyio.to_thread.run_sync(recall):
            context.extend_instructions(self.source_id, known)

    async def after_run(
        self, *, agent: SupportsAgentRun, session: AgentSession, context: SessionContext, state: dict[str, Any]
    ) -> None:
        if self._keep:
            said = [*context.input_messages, *(context.response.messages if context.response else ())]
            kept = _transcript(self._memory, context.session_id, self._user, learn=True)
            await anyio.to_thread.run_sync(kept.add, [_line(message) for message in said])


class MemoryHistoryProvider(HistoryProvider):
    """The conversations of one user, in their sessions. What the user says is learned from, unless `learn` is off."""

    def __init__(
        self,
        memory: Memory,
        *,
        user: str | None = None,
        learn: bool = True,
        source_id: str = "commonplace-history",
        **options: Any,
    ) -> None:
        """`options` are those of every HistoryProvider: `load_messages`, `store_inputs` …"""
        super().__init__(source_id, **options)
        self._memory, self._user, self._learn = memory, user, learn

    async def get_messages(
        self, session_id: str | None, *, state: dict[str, Any] | None = None, **kwargs: Any
    ) -> list[agent_framework.Message]:
        kept = _transcript(self._memory, session_id, self._user, learn=self._learn)
        return [_theirs(message) for message in await anyio.to_thread.run_sync(kept.latest)]

    async def save_messages(
        self,
        session_id: str | None,
        messages: Sequence[agent_framework.Message],
        *,
        state: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        kept = _transcript(self._memory, session_id, self._user, learn=self._learn)
        await anyio.to_thread.run_sync(kept.add, [_line(message) for message in messages])


def _transcript(memory: Memory, session: str | None, user: str | None, *, learn: bool) -> Transcript:
    return Transcript(memory=memory, session=session or UNNAMED, user=user, key=KEY, learn=learn)


def _line(message: agent_framework.Message) -> Line:
    text = message.text.strip() or f"({message.role})"
    return Line(ROLES.get(message.role, "tool"), text, cast(Json, message.to_dict()))


def _theirs(message: Message) -> agent_framework.Message:
    """Return a message as it was given; one that was added by other means, as what was said."""
    kept = message.metadata.get(KEY)
    if kept is not None:
        return agent_framework.Message.from_dict(cast(dict[str, Any], kept))
    return agent_framework.Message("assistant" if message.role == "tool" else message.role, [message.text])
