"""Who is calling: every request to the server is answered for one caller, and no argument reaches beyond it."""

from collections.abc import Awaitable, Callable
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
    about: Callable[[str | None], None] = lambda user: None
    """Is told whose memories a call turned out to be about."""

    def user_of(self, named: str | None) -> str | None:
        """Return whose memories a call is about. Raises InvalidInput for another user than the fixed one."""
        user = self.user if named is None else named
        if self.fixed and user != self.user:
            raise InvalidInput(f"user={named!r}: this server is open for one user, and a call cannot name another")
        self.about(user)
        return user

    def writing(self) -> AsyncMemory:
        """Return the memory, to change it. Raises InvalidInput for a caller who may only read."""
        if not self.may_write:
            raise InvalidInput("this server is open for reading only: expected a tool that changes nothing")
        return self.memory


Find = Callable[[ServerRequestContext[Any, Any]], Awaitable[Caller]]
"""Tells who sent a request."""

_calling: ContextVar[Caller] = ContextVar("caller")


def caller() -> Caller:
    """Return who sent the request that is being answered."""
    return _calling.get()


def always(caller: Caller) -> Find:
    """Return what finds the same caller each time."""

    async def find(_: ServerRequestContext[Any, Any]) -> Caller:
        return caller

    return find


def finding(find: Find) -> ServerMiddleware[Any]:
    """Return what finds the caller of each request anew: one connection may carry requests with different keys."""

    async def answer(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        if ctx.request_id is None:  # a notification asks for nothing
            return await call_next(ctx)
        before = _calling.set(await find(ctx))
        try:
            return await call_next(ctx)
        finally:
            _calling.reset(before)

    return answer
