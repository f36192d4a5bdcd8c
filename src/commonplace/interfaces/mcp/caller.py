"""Who is calling: every message to the server is answered for one caller, and no argument reaches beyond it."""

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from mcp.server.context import CallNext, HandlerResult, ServerMiddleware, ServerRequestContext

from commonplace.domain.errors import InvalidInput
from commonplace.memory import AsyncMemory


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    memory: AsyncMemory
    user: str | None = None
    """Whose memories, where a call does not say."""
    fixed: bool = False
    """Whether it is this user's memories in any case."""
    may_write: bool = True

    def user_of(self, named: str | None) -> str | None:
        """Return whose memories a call is about. Raises InvalidInput for another user than the fixed one."""
        if named is None or named == self.user:
            return self.user
        if self.fixed:
            raise InvalidInput(f"user={named!r}: this server is open for one user, and a call cannot name another")
        return named

    def writing(self) -> AsyncMemory:
        """Return the memory, to change it. Raises InvalidInput for a caller who may only read."""
        if not self.may_write:
            raise InvalidInput("this server is open for reading only: expected a tool that changes nothing")
        return self.memory


Find = Callable[[ServerRequestContext[Any, Any]], Caller]
"""Tells who sent a message."""

_calling: ContextVar[Caller] = ContextVar("caller")


def caller() -> Caller:
    """Return who sent the message that is being answered."""
    return _calling.get()


def finding(find: Find) -> ServerMiddleware[Any]:
    """Return what finds the caller of each message anew: one connection may carry messages with different keys."""

    async def answer(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        before = _calling.set(find(ctx))
        try:
            return await call_next(ctx)
        finally:
            _calling.reset(before)

    return answer
