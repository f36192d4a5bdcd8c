"""One conversation in hand: its short-lived state and its last messages."""

from collections.abc import Mapping, Sequence
from datetime import timedelta

from commonplace.domain.inputs import parse_count, parse_metadata, parse_ttl
from commonplace.domain.results import Window
from commonplace.domain.scope import Scope
from commonplace.domain.values import Json, Message, SessionId, SessionInfo
from commonplace.engine.finding import parse_query
from commonplace.engine.parts import Parts
from commonplace.engine.recent import last_said
from commonplace.engine.windows import Windows


class AsyncSession:
    """State is a dict that lives `ttl` seconds after it was last used. Messages stay when it has gone."""

    def __init__(self, parts: Parts, scope: Scope, session: SessionId, *, ttl: float, windows: Windows) -> None:
        self._parts, self._scope, self._windows = parts, scope, windows
        self.id = session
        self.ttl = ttl

    async def get(self) -> Mapping[str, Json]:
        """Return the state and keep it alive; empty when there is none, or when it has expired."""
        now = self._parts.now()
        state = await self._parts.ledger.session_state(self._scope, self.id, now=now)
        if state:
            await self._parts.ledger.touch_session(self._scope, self.id, now=now, ttl=self.ttl)
        return state

    async def update(self, values: Mapping[str, Json] | None = None, /, **more: Json) -> Mapping[str, Json]:
        """Merge values into the state and return it. A value of None removes its key."""
        merged = {**parse_metadata(values, name="state"), **parse_metadata(more, name="state")}
        return await self._parts.ledger.update_session(
            self._scope, self.id, merged, now=self._parts.now(), ttl=self.ttl
        )

    async def exchange(self, values: Mapping[str, Json], *, expected: Mapping[str, Json]) -> Mapping[str, Json]:
        """Merge values into the state if the keys of `expected` still hold that: None for one that must not be there.

        Raises Conflict, and changes nothing, if another process or another call was first. Returns the state.
        """
        return await self._parts.ledger.update_session(
            self._scope,
            self.id,
            parse_metadata(values, name="state"),
            now=self._parts.now(),
            ttl=self.ttl,
            expected=parse_metadata(expected, name="expected"),
        )

    async def touch(self, *, ttl: float | timedelta | None = None) -> SessionInfo:
        """Keep it alive for another `ttl` seconds."""
        if ttl is not None:
            self.ttl = parse_ttl(ttl)
        return await self._parts.ledger.touch_session(self._scope, self.id, now=self._parts.now(), ttl=self.ttl)

    async def end(self) -> None:
        """Drop the state. The messages stay in memory."""
        await self._parts.ledger.end_session(self._scope, self.id, now=self._parts.now())

    async def recent(self, n: int = 20) -> Sequence[Message]:
        """Return the last n messages, oldest first; at most as many as the ring holds."""
        limit = min(parse_count(n, name="n"), self._parts.options.ring)
        if not limit:
            return ()
        return tuple(await last_said(self._parts, self._scope, self.id, limit=limit))

    async def window(self, budget: int = 2_000, *, query: str | None = None) -> Window:
        """Return what a prompt needs of this conversation within `budget` tokens: what changes least comes first.

        Blocks, the summary of its older part, its last messages, and what is recalled for `query`, which is the user's
        last message unless it is given.
        """
        return await self._windows.window(
            self._scope,
            self.id,
            budget=parse_count(budget, name="budget", most=1_000_000),
            query=None if query is None else parse_query(query),
        )

    async def info(self) -> SessionInfo | None:
        """Return when it started, was last seen and ends; None for a session nobody has used."""
        return await self._parts.ledger.session_info(self._scope, self.id)
