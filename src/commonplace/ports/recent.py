"""The last messages of a conversation, for which something quicker than the ledger may be at hand."""

from collections.abc import Sequence
from typing import Protocol

from commonplace.domain.scope import Scope
from commonplace.domain.values import Message, SessionId


class Recent(Protocol):
    async def recent(self, scope: Scope, session: SessionId, *, limit: int) -> Sequence[Message]:
        """Return the last messages of a session, 1 or more, the oldest first."""
        ...
