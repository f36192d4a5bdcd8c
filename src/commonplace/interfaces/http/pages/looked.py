"""The facts of who was looked at last, so that a slider need not read 10,000 of them at each step.

They are used only while the ledger stands where it stood, and let go a minute after the last look.
"""

import asyncio
from collections.abc import Sequence

from commonplace.domain.scope import Scope
from commonplace.domain.values import Fact
from commonplace.ports.ledger import Ledger, Versions

KEPT = 60.0
"""Seconds."""


class Looked:
    def __init__(self) -> None:
        self._stand: tuple[Scope, Versions] | None = None
        self._facts: Sequence[Fact] = ()
        self._ending: asyncio.TimerHandle | None = None

    async def versions(self, ledger: Ledger, scope: Scope) -> Sequence[Fact]:
        """Return every version of every fact of a user, as the ledger has them now."""
        stand = (scope, await ledger.versions(scope))
        if stand == self._stand:
            return self._facts
        facts = await ledger.all_versions(scope)
        self._keep(stand, facts)
        return facts

    def _keep(self, stand: tuple[Scope, Versions], facts: Sequence[Fact]) -> None:
        if self._ending is not None:
            self._ending.cancel()
        self._stand, self._facts = stand, facts
        self._ending = asyncio.get_running_loop().call_later(KEPT, self.let_go)

    def let_go(self) -> None:
        self._stand, self._facts = None, ()
