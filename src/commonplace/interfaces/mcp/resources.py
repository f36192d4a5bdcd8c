"""The resources: blocks and profile, as a client can attach them to a conversation without asking a model."""

import json
from collections.abc import Awaitable, Callable
from functools import wraps
from typing import ParamSpec

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError
from mcp.server.mcpserver.resources import ResourceSecurity

from commonplace.domain.errors import CommonplaceError, InvalidInput, NotFound
from commonplace.interfaces.mcp.caller import caller
from commonplace.interfaces.mcp.results import BlockRead, FactRead

P = ParamSpec("P")
JSON = "application/json"
# Names are never part of a path here: any character may stand in one.
ANY_NAME = ResourceSecurity(exempt_params={"user", "name"})


def _clearly(read: Callable[P, Awaitable[str]]) -> Callable[P, Awaitable[str]]:
    """Tell the client what is wrong, as far as it can do something about it."""

    @wraps(read)
    async def reading(*args: P.args, **kwargs: P.kwargs) -> str:
        try:
            return await read(*args, **kwargs)
        except (NotFound, InvalidInput) as error:
            raise ResourceNotFoundError(str(error)) from error
        except CommonplaceError as error:
            raise ResourceError(f"{type(error).__name__}: {error}") from error

    return reading


def add_resources(server: MCPServer, *, of_any_user: bool) -> None:
    """Add those of the caller's user and, with `of_any_user`, those of a user who is named in the address."""
    server.resource(
        "commonplace://profile", name="profile", title="Profile", description="The user at a glance.", mime_type=JSON
    )(_own_profile)
    server.resource(
        "commonplace://blocks", name="blocks", title="Blocks", description="All blocks, in order.", mime_type=JSON
    )(_own_blocks)
    server.resource(
        "commonplace://blocks/{name}", name="block", title="Block", description="One block.", security=ANY_NAME
    )(_own_block)
    if of_any_user:
        for path, name, read, form in (
            ("profile", "profile_of_user", _profile, JSON),
            ("blocks", "blocks_of_user", _blocks, JSON),
            ("blocks/{name}", "block_of_user", _block, "text/plain"),
        ):
            title = name.replace("_", " ").capitalize()
            address = f"commonplace://users/{{user}}/{path}"
            server.resource(address, name=name, title=title, mime_type=form, security=ANY_NAME)(read)


@_clearly
async def _own_profile() -> str:
    return await _profile_of(None)


@_clearly
async def _own_blocks() -> str:
    return await _blocks_of(None)


@_clearly
async def _own_block(name: str) -> str:
    return await _block_of(None, name)


@_clearly
async def _profile(user: str) -> str:
    return await _profile_of(user)


@_clearly
async def _blocks(user: str) -> str:
    return await _blocks_of(user)


@_clearly
async def _block(user: str, name: str) -> str:
    return await _block_of(user, name)


async def _profile_of(user: str | None) -> str:
    who = caller()
    profile = await who.memory.profile(user=who.user_of(user))
    shown = {
        "user": profile.user,
        "messages": profile.messages,
        "facts": profile.facts,
        "blocks": profile.blocks,
        "last_seen": profile.last_seen.isoformat() if profile.last_seen else None,
        "sessions": [session.id for session in profile.sessions],
        "sample": [FactRead.of(fact).model_dump(mode="json") for fact in profile.sample],
    }
    return json.dumps(shown, ensure_ascii=False, indent=2)


async def _blocks_of(user: str | None) -> str:
    who = caller()
    blocks = await who.memory.blocks(user=who.user_of(user))
    return json.dumps([BlockRead.of(one).model_dump(mode="json") for one in blocks], ensure_ascii=False, indent=2)


async def _block_of(user: str | None, name: str) -> str:
    who = caller()
    for block in await who.memory.blocks(user=who.user_of(user)):
        if block.name == name:
            return block.text
    raise NotFound("block", name)
