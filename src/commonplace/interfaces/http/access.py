"""What a request may reach: the tenant of its key, and a user that the key opens. No argument can widen it.

A route takes `Reader`, `Writer` or `Admin` as a parameter and gets the memory of the caller's tenant with it; the user
that a request names goes through `Access.user`, which refuses every other than the key's own.
"""

from dataclasses import dataclass
from typing import Annotated, Protocol

from fastapi import Depends, Request

from commonplace.domain.errors import CommonplaceError
from commonplace.domain.inputs import parse_optional_name
from commonplace.domain.keys import ROLES, Role
from commonplace.domain.scope import Scope
from commonplace.memory import AsyncMemory


class Unauthenticated(CommonplaceError):
    """No key was given, or one that opens nothing."""


class Forbidden(CommonplaceError):
    """The key is good, and does not open that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who asks, as their key says it."""

    tenant: str
    role: Role
    user: str | None = None
    """The only user whose memory it may reach; None: every user of the tenant."""
    key: str = "local"
    """The id of the key; `local` for who needs none."""

    def may(self, role: Role) -> bool:
        return ROLES.index(self.role) >= ROLES.index(role)

    def reaches(self, named: str | None) -> str | None:
        """Return the user a request is about. Raises Forbidden for another than the key's own."""
        user = parse_optional_name(named, name="user")
        if self.user is None or user == self.user:
            return user
        if user is None:
            return self.user
        raise Forbidden("this key opens the memory of one user only, and the request names another")


class Tenants(Protocol):
    async def memory(self, tenant: str) -> AsyncMemory: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """One request's way into memory."""

    memory: AsyncMemory
    caller: Caller
    request: Request

    def user(self, named: str | None) -> str | None:
        """Return the user this request is about: always ask here, never take it from the request."""
        user = self.caller.reaches(named)
        note_whose(self.request.scope["state"], Scope(self.caller.tenant, user))
        return user

    def everybody(self) -> None:
        """The request is about the whole tenant. Raises Forbidden for a key of one user."""
        if self.caller.user is not None:
            raise Forbidden("this key opens the memory of one user only, and the request is about all of them")


def note_whose(state: dict[str, object], scope: Scope) -> None:
    """Note whose memory a request is about; an answer that is kept goes when that user is forgotten."""
    state["whose"] = scope


def caller_of(request: Request) -> Caller:
    caller = request.scope["state"]["caller"]
    assert isinstance(caller, Caller)
    return caller


async def _access(request: Request, role: Role) -> Access:
    caller = caller_of(request)
    if not caller.may(role):
        raise Forbidden(f"this key may {caller.role}, and the request needs one that may {role}")
    tenants: Tenants = request.app.state.service
    return Access(memory=await tenants.memory(caller.tenant), caller=caller, request=request)


async def _reading(request: Request) -> Access:
    return await _access(request, "read")


async def _writing(request: Request) -> Access:
    return await _access(request, "write")


async def _caring(request: Request) -> Access:
    return await _access(request, "admin")


Reader = Annotated[Access, Depends(_reading)]
Writer = Annotated[Access, Depends(_writing)]
Admin = Annotated[Access, Depends(_caring)]
