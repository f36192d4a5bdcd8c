"""Blocks: the small texts that are always in the prompt."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Path, Response
from pydantic import Field

from commonplace.domain.errors import NotFound
from commonplace.domain.plain import etag_of
from commonplace.domain.values import Block, BlockVersion
from commonplace.interfaces.http.access import Access, Reader, Writer
from commonplace.interfaces.http.preconditions import IfMatch, changed
from commonplace.interfaces.http.wire import Body, Name, User, UserQuery, described, reply

router = APIRouter(prefix="/v1/blocks", tags=["blocks"])

BlockName = Annotated[Name, Path(description="The name of the block.", examples=["profile"])]
Text = Annotated[str, Field(min_length=1, examples=["Ana, works nights, likes short answers."])]


@dataclass(frozen=True, slots=True)
class Blocks:
    """The blocks of a user, in their order."""

    items: list[Block]


@dataclass(frozen=True, slots=True)
class BlockVersions:
    """What a block said, oldest first; the last is what it says now."""

    items: list[BlockVersion]


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


@router.get("/{name:segment}/history", responses=described(BlockVersions, what="Oldest first; the last is now."))
async def block_history(name: BlockName, access: Reader, user: UserQuery = None) -> Response:
    """Return what a block said before, and what it says now."""
    return reply(BlockVersions(await access.memory.block_history(name, user=access.user(user))))


@router.put("/{name:segment}", responses=described(Block, what="As it reads now."))
async def set_block(name: BlockName, asked: BlockRequest, access: Writer, if_match: IfMatch = None) -> Response:
    """Write a block. What it said before stays in its history."""
    user = access.user(asked.user)

    async def change(expected: Block | None) -> Block:
        return await access.memory.set_block(name, asked.text, user=user, order=asked.order, expected=expected)

    return _reply(await changed(if_match, read=lambda: _find(access, name, user), change=change))


@router.post("/{name:segment}/append", responses=described(Block, what="As it reads now."))
async def append_block(name: BlockName, asked: LineRequest, access: Writer, if_match: IfMatch = None) -> Response:
    """Add a line to a block."""
    user = access.user(asked.user)

    async def change(expected: Block | None) -> Block:
        return await access.memory.append_block(name, asked.text, user=user, expected=expected)

    return _reply(await changed(if_match, read=lambda: _find(access, name, user), change=change))


@router.delete("/{name:segment}", status_code=204, response_class=Response)
async def delete_block(name: BlockName, access: Writer, user: UserQuery = None, if_match: IfMatch = None) -> Response:
    """Remove a block, and what it said before."""
    named = access.user(user)

    async def change(expected: Block | None) -> None:
        await access.memory.delete_block(name, user=named, expected=expected)

    await changed(if_match, read=lambda: _find(access, name, named), change=change)
    return Response(status_code=204)


async def _find(access: Access, name: str, user: str | None) -> Block | None:
    return next((one for one in await access.memory.blocks(user=user) if one.name == name), None)


def _reply(block: Block) -> Response:
    return reply(block, headers={"ETag": etag_of(block)})
