"""Blocks: read and write the texts that are always in the prompt, and bring back what they said before."""

from fastapi import APIRouter
from starlette.responses import Response

from commonplace.domain.errors import NotFound
from commonplace.domain.values import BlockVersion
from commonplace.interfaces.http.access import Access, Reader, Writer
from commonplace.interfaces.http.pages.forms import Filled
from commonplace.interfaces.http.pages.looking import look
from commonplace.interfaces.http.pages.shell import PageRoute, Whose, back_to, page

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@router.get("/blocks")
async def blocks(access: Reader, user: Whose = "") -> Response:
    seen = look(access, user)
    shown = [
        (block, await _older(access, block.name, seen.user)) for block in await access.memory.blocks(user=seen.user)
    ]
    return page(access, "blocks.html", user=seen.user, blocks=shown)


@router.post("/blocks/set")
async def set_block(access: Writer, form: Filled) -> Response:
    user = access.user(form.optional("user"))
    await access.memory.set_block(form.text("name"), form.text("text"), user=user)
    return back_to("/blocks", user=user)


async def _older(access: Access, name: str, user: str | None) -> list[BlockVersion]:
    """Return what a block said before, the latest first."""
    try:
        *older, _ = await access.memory.block_history(name, user=user)
    except NotFound:  # deleted since it was listed
        return []
    return older[::-1]


@router.post("/blocks/delete")
async def delete_block(access: Writer, form: Filled) -> Response:
    user = access.user(form.optional("user"))
    await access.memory.delete_block(form.text("name"), user=user)
    return back_to("/blocks", user=user)
