"""The last messages of a conversation: from what has them at hand, or from the ledger."""

from collections.abc import Sequence

from commonplace.domain.scope import Scope
from commonplace.domain.values import Message, SessionId
from commonplace.engine.parts import Parts
from commonplace.ports.ledger import MessageQuery


async def last_said(parts: Parts, scope: Scope, session: SessionId, *, limit: int) -> Sequence[Message]:
    """Return the last messages of a session, the oldest first."""
    if parts.recent is not None:
        return await parts.recent.recent(scope, session, limit=limit)
    page = await parts.ledger.messages(scope, MessageQuery(session=session, limit=limit))
    return tuple(reversed(page.messages))
