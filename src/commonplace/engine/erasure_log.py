"""The log of erasures beside the snapshots: ids and numbers, one small object for each, so that nothing comes back."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from commonplace.care.coding import decoded, encoded
from commonplace.care.snapshot import ERASURES
from commonplace.domain.archive import KeptErasure
from commonplace.domain.errors import InvalidInput, SnapshotCorrupt
from commonplace.ports.snapshot_store import SnapshotStore


@dataclass(frozen=True, slots=True, kw_only=True)
class Logged:
    tenant: str
    user: str | None
    erasure: KeptErasure


class ErasureLog:
    def __init__(self, store: SnapshotStore) -> None:
        self._store = store

    async def add(self, logged: Sequence[Logged]) -> None:
        """Write those that are not there yet. Only what is complete is written: it has a receipt."""
        there = frozenset(await self.ids()) if logged else frozenset()
        for one in logged:
            if one.erasure.receipt is not None and one.erasure.id not in there:
                await self._store.put(_name(one.erasure.id), json.dumps(encoded(one)).encode("ascii"))

    async def ids(self) -> Sequence[str]:
        names = await self._store.names(ERASURES)
        return [name.removeprefix(ERASURES).removesuffix(".json") for name in names]

    async def later_than(self, known: frozenset[str]) -> Sequence[Logged]:
        """Return the erasures that a snapshot does not know of, oldest first. Raises SnapshotCorrupt."""
        found = [await self._read(id_) for id_ in await self.ids() if id_ not in known]
        return sorted(found, key=lambda one: one.erasure.at)

    async def _read(self, id_: str) -> Logged:
        try:
            return decoded(Logged, json.loads(await self._store.get(_name(id_))), name=id_)
        except (ValueError, InvalidInput) as error:
            raise SnapshotCorrupt(
                f"{_name(id_)} cannot be read, so it is not known what was forgotten: {error}"
            ) from None


def _name(id_: str) -> str:
    return f"{ERASURES}{id_}.json"
