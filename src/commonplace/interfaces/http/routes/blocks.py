"""Blocks: the small texts that are always in the prompt."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Path, Response
from pydantic import Field

from commonplace.domain.errors import NotFound
from commonplace.domain.scope import Scope
from commonplace.domain.values import Block
from commonplace.interfaces.http.access import Access, Reader, Writer
from commonplace.interfaces.http.preconditions import IfMatch, check, etag_of, in_turn
from commonplace.interfaces.http.wire import Body, Name, User, UserQuery, described, reply

router = APIRouter(prefix="/v1/blocks", tags=["blocks"])

BlockName = Annotated[Name, Path(description="The name of the block.", examples=["profile"])]
Text = Annotated[str, Field(min_length=1, examples=["Ana, works nights, likes short answers."])]


@dataclass(frozen=True, slots=True)
class Blocks:
    """The blocks of a user, in their order."""

    items: list[Block]


class BlockRequest(Body):
    text: Text
    user: User = None
    order: Annotated[int | None, Field(ge=0, le=10_000, description="Its place. None: where it is, or the end.")] = None


class LineRequest(Body):
    text: Text
    user: User = None


@router.get("", responses=described(Blocks, what="In their order."))
async def blocks(access: Reader, user: UserQuery = None) -> Response:
    """List the blocks of a user."""
    return reply(Blocks(await access.memory.blocks(user=access.user(user))))


@router.get("/{name:segment}", responses=described(Block, what="The block."))
async def block(name: BlockName, access: Reader, user: UserQuery = None) -> Response:
    """Return one block."""
    found = await _find(access, name, access.user(user))
    if found is None:
        raise NotFound("block", name)
    return _reply(found)


@router.put("/{name:segment}", responses=described(Block, what="As it reads now."))
async def set_block(name: BlockName, asked: BlockRequest, access: Writer, if_match: IfMatch = None) -> Response:
    """Write a block."""
    user = access.user(asked.user)
    async with in_turn(Scope(access.caller.tenant, user)):
        await _check(access, name, user, if_match)
        return _reply(await access.memory.set_block(name, asked.text, user=user, order=asked.order))


@router.post("/{name:segment}/append", responses=described(Block, what="As it reads now."))
async def append_block(name: BlockName, asked: LineRequest, access: Writer, if_match: IfMatch = None) -> Response:
    """Add a line to a block."""
    user = access.user(asked.user)
    async with in_turn(Scope(access.caller.tenant, user)):
        await _check(access, name, user, if_match)
        return _reply(await access.memory.append_block(name, asked.text, user=user))


@router.delete("/{name:segment}", status_code=204, response_class=Response)
async def delete_block(name: BlockName, access: Writer, user: UserQuery = None, if_match: IfMatch = None) -> Response:
    """Remove a block."""
    named = access.user(user)
    async with in_turn(Scope(access.caller.tenant, named)):
        await _check(access, name, named, if_match)
        await access.memory.delete_block(name, user=named)
    return Response(status_code=204)


async def _find(access: Access, name: str, user: str | None) -> Block | None:
    return next((one for one in await access.memory.blocks(user=user) if one.name == name), None)


async def _check(access: Access, name: str, user: str | None, if_match: str | None) -> None:
    if if_match is not None:
        found = await _find(access, name, user)
        check(if_match, None if found is None else etag_of(found))


def _reply(block: Block) -> Response:
    return reply(block, headers={"ETag": etag_of(block)})
