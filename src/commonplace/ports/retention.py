"""What a ledger knows about how long things stay: what is due, and who is held."""

from collections.abc import Sequence
from typing import Protocol

from commonplace.domain.retention import Due, Hold
from commonplace.domain.scope import Scope
from commonplace.domain.values import FactId


class RetentionLedger(Protocol):
    async def due_facts(self, scope: Scope, due: Due) -> Sequence[FactId]:
        """Return the facts that have to go, oldest first: by their expiry, or by when they were last said."""
        ...

    async def hold(self, scope: Scope, hold: Hold) -> Hold:
        """Keep everything of a user from now on: `erase` raises OnHold. A hold that is there already stays as it is."""
        ...

    async def release(self, scope: Scope) -> bool:
        """End a hold. Returns whether there was one."""
        ...

    async def holds(self, tenant: str) -> Sequence[Hold]:
        """Return who is held, in the order in which it began."""
        ...
