"""The embedding models that tenants and users have of their own: each is opened once, whoever shares it."""

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING

from commonplace.domain.errors import InvalidInput
from commonplace.domain.scope import Scope
from commonplace.engine.parts import OwnEmbedders
from commonplace.ports.embedder import Embedder
from commonplace.ports.ledger import Ledger
from commonplace.wiring.embedders import Embed, name_of, open_named

if TYPE_CHECKING:
    from commonplace.settings import Settings

Embeds = Mapping[str, Embed]
"""Embedders by `tenant`, `tenant/user`, or `tenant/` for the anonymous user."""


@asynccontextmanager
async def open_own_embedders(
    settings: "Settings", ledger: Ledger, given: Embeds | None, *, everybodys: Embedder | None
) -> AsyncIterator[OwnEmbedders | None]:
    """Yield who has which; None where nobody has. `everybodys` is the memory's model, if the settings name it."""
    chosen: dict[str, object] = {**settings.embedding_models, **(given or {})}
    if not chosen:
        yield None
        return
    opened: dict[object, Embedder] = {} if everybodys is None else {name_of(settings): everybodys}
    tenants: dict[str, Embedder] = {}
    users: dict[Scope, Embedder] = {}
    async with AsyncExitStack() as stack:
        for namespace, model in chosen.items():
            tenant, slash, user = _parsed(namespace)
            key = model if isinstance(model, str) else id(model)
            if key not in opened:
                counted = settings.model_copy(update={"tenant": tenant})
                opened[key] = await stack.enter_async_context(open_named(counted, ledger, model, None))
            if slash:
                users[Scope(tenant, user or None)] = opened[key]
            else:
                tenants[tenant] = opened[key]
        yield OwnEmbedders(tenants=tenants, users=users)


def _parsed(namespace: object) -> tuple[str, str, str]:
    parsed = namespace.partition("/") if isinstance(namespace, str) else ("", "", "")
    if not parsed[0]:
        raise InvalidInput(f"embedders: {namespace!r}: expected TENANT, TENANT/USER, or TENANT/ for the anonymous user")
    return parsed
