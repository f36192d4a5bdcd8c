"""The vectors of another model, beside those in use, with the promises of `ports.models`."""

import asyncio
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from commonplace.adapters.inmemory.partition import Partition
from commonplace.domain.errors import Conflict, Overtaken
from commonplace.domain.scope import Scope
from commonplace.ports.feed import Feed, Vector, Versions
from commonplace.ports.models import PAUSE, Aside, Model, ModelRecord, same_model


class InMemoryModels(ABC):
    _partitions: dict[Scope, Partition]
    _identity: str | None

    def __init__(self) -> None:
        super().__init__()
        self._generation, self._held_until = 0, 0.0
        self._models: dict[str, Model] = {}
        self._aside: Aside | None = None

    @abstractmethod
    def _find(self, scope: Scope) -> Partition: ...

    @abstractmethod
    def _obtain(self, scope: Scope) -> Partition: ...

    @property
    def generation(self) -> int:
        return self._generation

    async def own_models(self, tenant: str) -> Mapping[Scope, str]:
        held = {scope: one.versions.model for scope, one in self._partitions.items() if scope.tenant == tenant}
        return {scope: model for scope, model in held.items() if model is not None}

    async def set_own_model(self, scope: Scope, model: str | None, *, clear: bool = False) -> None:
        held = self._find(scope) if model is None else self._obtain(scope)
        if held.versions.model == model:
            return
        if not same_model(held.model, model or self._identity):
            if held.vectors and not clear:
                raise Conflict(f"this user has vectors of {held.model!r}")
            held.vectors, held.tokens, held.aside = {}, {}, {}
        held.model, held.own_model = model or self._identity, model is not None
        held.version += 1

    async def models(self) -> ModelRecord:
        rows = sum(len(held.aside) for held in self._partitions.values())
        aside = None if self._aside is None else replace(self._aside, rows=rows)
        return ModelRecord(generation=self._generation, current=self._identity, aside=aside, known=dict(self._models))

    async def everyone(self) -> Mapping[Scope, Versions]:
        return {scope: held.versions for scope, held in self._partitions.items() if held.versions.rows}

    async def begin_aside(self, model: Model, *, current: Model) -> None:
        (await self.models()).may_begin(model, current=current)
        self._models |= {current.identity: current, model.identity: model}
        self._aside = Aside(model=model, state="building", rows=0)

    async def lacking(self, scope: Scope, *, after: int, limit: int, aside: bool) -> Feed:
        held = self._find(scope)
        there = held.aside.keys() if aside else held.vectors.keys()
        missing = sorted(n for n in held.numbers if n > after and n not in there)
        return held.feed(frozenset(missing[: max(limit, 1)]), vectors=False)

    async def set_aside(
        self, scope: Scope, vectors: Mapping[int, Vector], *, model: str, tokens: Mapping[int, bytes] | None = None
    ) -> None:
        self._expect(model)
        held = self._find(scope)
        there = frozenset(held.numbers)
        for n, vector in vectors.items():
            if n in there:
                held.aside[n] = (np.asarray(vector, np.float32).tobytes(), (tokens or {}).get(n))

    async def aside(self, scope: Scope, numbers: Sequence[int]) -> Mapping[int, bytes]:
        held = self._find(scope).aside
        return {n: held[n][0] for n in numbers if n in held}

    async def hold_writes(self, seconds: float) -> None:
        self._held_until = time.monotonic() + seconds

    async def _let_in(self) -> None:
        """Return when rows may be added."""
        while time.monotonic() < self._held_until:  # noqa: ASYNC110 - it ends with the time
            await asyncio.sleep(PAUSE)

    async def switch_vectors(self, *, to: str, seen: Mapping[Scope, int] | None = None) -> int:
        self._expect(to)
        taking_part = {scope: one.version for scope, one in (await self.everyone()).items() if one.model is None}
        if seen is not None and any(seen.get(scope) != version for scope, version in taking_part.items()):
            raise Overtaken("something was written since the vectors were made")
        before = self._models[self._identity or ""]
        self._generation, self._identity = self._generation + 1, to
        self._aside = Aside(model=before, state="kept", rows=0)
        for held in self._partitions.values():
            held.switch(generation=self._generation, model=to)
        return self._generation

    async def discard_aside(self, *, limit: int) -> int:
        if self._aside is not None:
            self._aside = replace(self._aside, state="clearing")
        for held in self._partitions.values():
            for n in sorted(held.aside)[:limit]:
                del held.aside[n]
                limit -= 1
        left = sum(len(held.aside) for held in self._partitions.values())
        self._aside = self._aside if left else None
        return left

    def _expect(self, model: str) -> None:
        aside = self._aside
        if aside is None or aside.model.identity != model or aside.state == "clearing":
            raise Conflict(f"no vectors of {model!r} are being made here by now")
