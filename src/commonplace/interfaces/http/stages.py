"""The parts of a memory, watched: how long each of their calls took, as a number and as a span. No content.

Methods are wrapped one by one when a part is taken, so that a part is still seen to have what it has.
"""

import inspect
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any, TypeVar, cast

from commonplace.engine.parts import OwnEmbedders, Parts

Stage = Callable[[str], AbstractContextManager[None]]
T = TypeVar("T")


def watched(parts: Parts, stage: Stage) -> Parts:
    return replace(
        parts,
        ledger=_watched(parts.ledger, "ledger", stage),
        embedder=_watched(parts.embedder, "embedder", stage),
        own=None if parts.own is None else _watched_own(parts.own, stage),
        index=None if parts.index is None else _watched(parts.index, "index", stage),
        extractor=None if parts.extractor is None else _watched(parts.extractor, "extractor", stage),
    )


def _watched_own(own: OwnEmbedders, stage: Stage) -> OwnEmbedders:
    return OwnEmbedders(
        tenants={tenant: _watched(one, "embedder", stage) for tenant, one in own.tenants.items()},
        users={scope: _watched(one, "embedder", stage) for scope, one in own.users.items()},
    )


class _Watched:
    def __init__(self, inner: object, name: str, stage: Stage) -> None:
        self._inner = inner
        for attribute in (one for one in dir(inner) if not one.startswith("_")):
            method = getattr(inner, attribute)
            if inspect.iscoroutinefunction(method):
                setattr(self, attribute, _timed(method, f"{name}.{attribute}", stage))

    def __getattr__(self, attribute: str) -> Any:
        return getattr(self._inner, attribute)


def _watched(inner: T, name: str, stage: Stage) -> T:
    return cast(T, _Watched(inner, name, stage))


def _timed(method: Callable[..., Any], name: str, stage: Stage) -> Callable[..., Any]:
    async def timed(*given: Any, **named: Any) -> Any:
        with stage(name):
            return await method(*given, **named)

    return timed
