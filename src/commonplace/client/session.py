"""One conversation of a memory that is somewhere else: what AsyncSession is there."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from urllib.parse import quote

from commonplace.client.asking import Asking
from commonplace.domain.errors import NotFound
from commonplace.domain.inputs import parse_metadata, parse_ttl
from commonplace.domain.plain import from_json
from commonplace.domain.results import Window
from commonplace.domain.values import Json, Message, SessionId, SessionInfo


class RemoteSession:
    def __init__(self, asking: Asking, session: SessionId, *, user: str | None, ttl: float | None) -> None:
        self._asking, self._user = asking, user
        self._path = f"/v1/sessions/{quote(session, safe='').replace('.', '%2E')}"
        self._ttl = ttl
        self.id = session

    @property
    def ttl(self) -> float:
        """Seconds; 0 where the service decides."""
        return self._ttl or 0.0

    async def get(self) -> Mapping[str, Json]:
        """Return the state and keep it alive; empty when there is none, or when it has expired."""
        answer = await self._asking.get(f"{self._path}/state", user=self._user)
        state: Mapping[str, Json] = answer["state"]
        return state

    async def update(self, values: Mapping[str, Json] | None = None, /, **more: Json) -> Mapping[str, Json]:
        """Merge values into the state and return it. A value of None removes its key."""
        merged = {**parse_metadata(values, name="state"), **parse_metadata(more, name="state")}
        answer = await self._asking.call("PATCH", f"{self._path}/state", values=merged, user=self._user, ttl=self._ttl)
        state: Mapping[str, Json] = answer["state"]
        return state

    async def exchange(self, values: Mapping[str, Json], *, expected: Mapping[str, Json]) -> Mapping[str, Json]:
        """Merge values into the state if the keys of `expected` still hold that: None for one that must not be there.

        Raises Conflict, and changes nothing, if another process or another call was first. Returns the state.
        """
        answer = await self._asking.call(
            "PATCH",
            f"{self._path}/state",
            values=dict(values),
            expected=dict(expected),
            user=self._user,
            ttl=self._ttl,
        )
        state: Mapping[str, Json] = answer["state"]
        return state

    async def touch(self, *, ttl: float | timedelta | None = None) -> SessionInfo:
        """Keep it alive for another `ttl` seconds."""
        if ttl is not None:
            self._ttl = parse_ttl(ttl)
        answer = await self._asking.call("POST", f"{self._path}/touch", user=self._user, ttl=self._ttl)
        return from_json(SessionInfo, answer)

    async def end(self) -> None:
        """Drop the state. The messages stay in memory."""
        await self._asking.call("POST", f"{self._path}/end", user=self._user)

    async def recent(self, n: int = 20) -> Sequence[Message]:
        """Return the last n messages, oldest first; at most as many as the ring holds."""
        answer = await self._asking.get(f"{self._path}/recent", user=self._user, n=n)
        return tuple(from_json(Message, item) for item in answer["items"])

    async def window(self, budget: int = 2_000, *, query: str | None = None) -> Window:
        """Return as much of it as fits: its last messages, and a summary of what came before."""
        answer = await self._asking.get(f"{self._path}/window", user=self._user, budget=budget, query=query)
        return from_json(Window, answer)

    async def info(self) -> SessionInfo | None:
        """Return when it started, was last seen and ends; None for a session nobody has used."""
        try:
            return from_json(SessionInfo, await self._asking.get(self._path, user=self._user))
        except NotFound:
            return None
