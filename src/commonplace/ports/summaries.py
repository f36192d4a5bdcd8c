"""Summaries of older stretches of sessions. The indexes are fed their rows like those of facts, of kind `summary`."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple, Protocol

from commonplace.domain.scope import Scope
from commonplace.domain.values import Message, MessageId, SessionId, Summary, SummaryId


class Unsummarised(NamedTuple):
    """What no summary covers of a session."""

    session: SessionId
    messages: int
    characters: int
    until: datetime
    """When the last of it was said."""


class Summaries(Protocol):
    async def summaries(self, scope: Scope, session: SessionId | None = None) -> Sequence[Summary]:
        """Return the summaries of a session, or of all, in the order of time."""
        ...

    async def summaries_by_id(self, scope: Scope, ids: Sequence[SummaryId]) -> Mapping[SummaryId, Summary]: ...

    async def covering(self, scope: Scope, messages: Sequence[MessageId]) -> Sequence[Summary]:
        """Return the summaries that cover any of these messages."""
        ...

    async def unsummarised(self, scope: Scope, session: SessionId | None = None) -> Sequence[Unsummarised]:
        """Return, for a session or for all, how much of it no summary covers. Sessions without such are left out."""
        ...

    async def uncovered(self, scope: Scope, session: SessionId, *, limit: int) -> Sequence[Message]:
        """Return the first messages of a session that no summary covers, in the order of time."""
        ...
