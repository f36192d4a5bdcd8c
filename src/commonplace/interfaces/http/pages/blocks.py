"""Blocks: read and write the texts that are always in the prompt."""

from fastapi import APIRouter
from starlette.responses import Response

from commonplace.interfaces.http.access import Reader, Writer
from commonplace.interfaces.http.pages.forms import Filled
from commonplace.interfaces.http.pages.looking import look
from commonplace.interfaces.http.pages.shell import PageRoute, Whose, back_to, page

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@router.get("/blocks")
async def blocks(access: Reader, user: Whose = "") -> Response:
    seen = look(access, user)
    return page(access, "blocks.html", user=seen.user, blocks=await access.memory.blocks(user=seen.user))


@router.post("/blocks/set")
async def set_block(access: Writer, form: Filled) -> Response:
    user = access.user(form.optional("user"))
    await access.memory.set_block(form.text("name"), form.text("text"), user=user)
    return back_to("/blocks", user=user)


@router.post("/blocks/delete")
async def delete_block(access: Writer, form: Filled) -> Response:
    user = access.user(form.optional("user"))
    await access.memory.delete_block(form.text("name"), user=user)
    return back_to("/blocks", user=user)
