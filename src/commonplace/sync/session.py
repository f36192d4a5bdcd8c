"""AsyncSession without an event loop."""

from collections.abc import Mapping, Sequence
from datetime import timedelta

from commonplace.domain.results import Window
from commonplace.domain.values import Json, Message, SessionInfo
from commonplace.engine.sessions import AsyncSession
from commonplace.sync.loop import Loop


class Session:
    """AsyncSession for code without an event loop."""

    def __init__(self, loop: Loop, session: AsyncSession) -> None:
        self._loop, self._session = loop, session

    @property
    def id(self) -> str:
        return self._session.id

    @property
    def ttl(self) -> float:
        return self._session.ttl

    def get(self) -> Mapping[str, Json]:
        """Return the state and keep it alive; empty when there is none, or when it has expired."""
        return self._loop.call(self._session.get())

    def update(self, values: Mapping[str, Json] | None = None, /, **more: Json) -> Mapping[str, Json]:
        """Merge values into the state and return it. A value of None removes its key."""
        return self._loop.call(self._session.update(values, **more))

    def exchange(self, values: Mapping[str, Json], *, expected: Mapping[str, Json]) -> Mapping[str, Json]:
        """Merge values into the state if the keys of `expected` still hold that: None for one that must not be there.

        Raises Conflict, and changes nothing, if another process or another call was first. Returns the state.
        """
        return self._loop.call(self._session.exchange(values, expected=expected))

    def touch(self, *, ttl: float | timedelta | None = None) -> SessionInfo:
        """Keep it alive for another `ttl` seconds."""
        return self._loop.call(self._session.touch(ttl=ttl))

    def end(self) -> None:
        """Drop the state. The messages stay in memory."""
        self._loop.call(self._session.end())

    def recent(self, n: int = 20) -> Sequence[Message]:
        """Return the last n messages, oldest first; at most as many as the ring holds."""
        return self._loop.call(self._session.recent(n))

    def window(self, budget: int = 2_000, *, query: str | None = None) -> Window:
        """Return what a prompt needs of this conversation within `budget` tokens: what changes least comes first."""
        return self._loop.call(self._session.window(budget, query=query))

    def info(self) -> SessionInfo | None:
        """Return when it started, was last seen and ends; None for a session nobody has used."""
        return self._loop.call(self._session.info())
