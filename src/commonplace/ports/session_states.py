"""What a conversation keeps for a while: it is gone after its time, and its messages are not."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from commonplace.domain.scope import Scope
from commonplace.domain.states import Expected, State
from commonplace.domain.values import SessionId, SessionInfo


class SessionStates(Protocol):
    """Short-lived state of conversations. A session that has expired or ended reads as one with no state."""

    async def session_state(self, scope: Scope, session: SessionId, *, now: datetime) -> State: ...

    async def update_session(
        self, scope: Scope, session: SessionId, values: State, *, now: datetime, ttl: float, expected: Expected = None
    ) -> State:
        """Merge values into the state (None removes a key), keep it alive for `ttl` seconds, return the new state.

        Raises Conflict, and changes nothing, if the state is not what is expected of it when it is written.
        """
        ...

    async def touch_session(self, scope: Scope, session: SessionId, *, now: datetime, ttl: float) -> SessionInfo: ...

    async def end_session(self, scope: Scope, session: SessionId, *, now: datetime) -> None:
        """Drop the state and mark it ended. Its messages stay."""
        ...

    async def session_info(self, scope: Scope, session: SessionId) -> SessionInfo | None: ...

    async def active_sessions(self, scope: Scope, *, now: datetime) -> Sequence[SessionInfo]:
        """Return sessions that have not expired or ended, the latest seen first."""
        ...

    async def clean_sessions(self, *, now: datetime) -> int:
        """Drop the state of sessions that have expired. Returns how many."""
        ...
