"""Keys: list, make and revoke those of the tenant. Only for keys that may do everything, for every user."""

from collections.abc import Sequence

from fastapi import APIRouter
from starlette.responses import Response

from commonplace.domain.errors import NotFound
from commonplace.domain.keys import Key, new_key
from commonplace.interfaces.http.access import Access, Admin
from commonplace.interfaces.http.pages.forms import Filled
from commonplace.interfaces.http.pages.looking import service_of
from commonplace.interfaces.http.pages.shell import PageRoute, back_to, page

router = APIRouter(route_class=PageRoute, include_in_schema=False)


async def shown_keys(access: Access) -> Sequence[Key] | None:
    """Return the keys of the tenant; None for who may not see them."""
    if not access.caller.may("admin") or access.caller.user is not None:
        return None
    return await service_of(access).keys.keys(access.caller.tenant)


@router.post("/care/keys/create")
async def create(access: Admin, form: Filled) -> Response:
    access.everybody()
    service = service_of(access)
    key, token = new_key(
        tenant=access.caller.tenant,
        user=form.optional("key_user"),
        role=form.text("role"),
        label=form.fields.get("label", ""),
        now=service.now(),
    )
    await service.keys.add_key(key)
    return page(access, "new_key.html", token=str(token), key=key)


@router.post("/care/keys/revoke")
async def revoke(access: Admin, form: Filled) -> Response:
    access.everybody()
    service, id_ = service_of(access), form.text("id")
    own = {key.id for key in await service.keys.keys(access.caller.tenant)}
    if id_ not in own or not await service.keys.revoke_key(id_, at=service.now()):
        raise NotFound("key", id_)
    return back_to("/care")
