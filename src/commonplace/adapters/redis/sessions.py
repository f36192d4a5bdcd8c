"""SessionStates with Redis in front of a ledger: read here, written there first.

A use that only keeps a session alive is written to the ledger with some time to spare, and uses within that time are
noted here alone: a server that is flushed makes a state live a little longer, never shorter (decision 0013).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from commonplace.adapters.redis.coding import Copy, session_fields, session_of
from commonplace.adapters.redis.editions import LIFE, Editions
from commonplace.adapters.redis.keys import Keys, digest
from commonplace.adapters.redis.server import Command, Server
from commonplace.domain.scope import Scope
from commonplace.domain.states import Expected, State
from commonplace.domain.times import to_micros
from commonplace.domain.values import Json, SessionId, SessionInfo
from commonplace.ports.session_states import SessionStates

SPARE, MOST_SPARE = 1 / 20, 60.0
"""The share of its life, and the most seconds, that the ledger lets a session live on beyond its last use."""
LISTED = 1_000
"""A user with more active sessions is asked about in the ledger."""
HEADER = b"\x00"
"""Begins the member of the sorted set that says of which edition it is."""

TOUCH = """
if redis.call('get', KEYS[1]) ~= ARGV[1] or redis.call('hget', KEYS[2], 'edition') ~= ARGV[1] then
    return 0
end
redis.call('hset', KEYS[2], 'seen', ARGV[2], 'expires', ARGV[3])
redis.call('zadd', KEYS[3], 'xx', ARGV[3], ARGV[4])
return 1
"""


class RedisSessions:
    def __init__(self, ledger: SessionStates, server: Server, keys: Keys, editions: Editions) -> None:
        self._ledger, self._server, self._keys, self._editions = ledger, server, keys, editions

    async def session_state(self, scope: Scope, session: SessionId, *, now: datetime) -> Mapping[str, Json]:
        edition, copy = await self._copy(scope, session)
        if copy is not None and (copy.state is not None or not copy.lives(now)):
            self._server.hits += 1
            return copy.state if copy.state is not None and copy.lives(now) else {}
        self._server.misses += 1
        if edition and copy is None:
            info = await self._ledger.session_info(scope, session)
            copy = None if info is None else Copy(info=info, durable=info.expires_at)
        state = await self._ledger.session_state(scope, session, now=now)
        if edition and copy is not None and copy.lives(now):
            await self._keep(scope, edition, replace(copy, state=state))
        return state

    async def update_session(
        self, scope: Scope, session: SessionId, values: State, *, now: datetime, ttl: float, expected: Expected = None
    ) -> State:
        async with self._editions.changing(scope, rows=False):
            return await self._ledger.update_session(scope, session, values, now=now, ttl=ttl, expected=expected)

    async def touch_session(self, scope: Scope, session: SessionId, *, now: datetime, ttl: float) -> SessionInfo:
        edition, copy = await self._copy(scope, session)
        if edition and copy is not None and covered(copy, now=now, ttl=ttl):
            info = used(copy.info, now=now, ttl=ttl)
            if await self._note(scope, edition, info):
                self._server.hits += 1
                return info
        longer = spare(ttl) if edition else 0.0
        async with self._editions.changing(scope, rows=False) as change:
            found = await self._ledger.touch_session(scope, session, now=now, ttl=ttl + longer)
        exact = replace(found, expires_at=found.last_seen + timedelta(seconds=ttl))
        if change.edition:
            await self._keep(scope, change.edition, Copy(info=exact, durable=found.expires_at))
        return exact

    async def end_session(self, scope: Scope, session: SessionId, *, now: datetime) -> None:
        async with self._editions.changing(scope, rows=False):
            await self._ledger.end_session(scope, session, now=now)

    async def session_info(self, scope: Scope, session: SessionId) -> SessionInfo | None:
        edition, copy = await self._copy(scope, session)
        if copy is not None:
            self._server.hits += 1
            return copy.info
        self._server.misses += 1
        info = await self._ledger.session_info(scope, session)
        if edition and info is not None:
            await self._keep(scope, edition, Copy(info=info, durable=info.expires_at))
        return info

    async def active_sessions(self, scope: Scope, *, now: datetime) -> Sequence[SessionInfo]:
        edition, listed = await self._listed(scope, now)
        if listed is not None:
            self._server.hits += 1
            return listed
        self._server.misses += 1
        infos = await self._ledger.active_sessions(scope, now=now)
        if edition and len(infos) <= LISTED:
            await self._keep_list(scope, edition, infos)
        return infos

    async def clean_sessions(self, *, now: datetime) -> int:
        """What is kept here of a session that is over reads as nothing, so there is nothing to do here."""
        return await self._ledger.clean_sessions(now=now)

    async def _copy(self, scope: Scope, session: SessionId) -> tuple[bytes | None, Copy | None]:
        edition, answers = await self._editions.read(scope, ("HGETALL", self._keys.session(scope, session)))
        return edition, session_of(answers[0], edition) if answers else None

    async def _keep(self, scope: Scope, edition: bytes, *copies: Copy) -> None:
        commands: list[Command] = []
        for copy in copies:
            key = self._keys.session(scope, copy.info.id)
            commands += [("HSET", key, *session_fields(copy, edition)), ("PEXPIRE", key, LIFE)]
        await self._editions.keep(scope, edition, *commands)

    async def _note(self, scope: Scope, edition: bytes, info: SessionInfo) -> bool:
        """Note a use here alone. Returns whether the copy was still the present one."""
        keys = (self._keys.edition(scope), self._keys.session(scope, info.id), self._keys.active(scope))
        moments = (to_micros(info.last_seen), to_micros(info.expires_at))
        answers = await self._server.pipe(("EVAL", TOUCH, len(keys), *keys, edition, *moments, digest(info.id)))
        return bool(answers and answers[0])

    async def _listed(self, scope: Scope, now: datetime) -> tuple[bytes | None, Sequence[SessionInfo] | None]:
        key = self._keys.active(scope)
        edition, answers = await self._editions.read(scope, ("ZRANGEBYSCORE", key, f"({to_micros(now)}", "+inf"))
        members: list[bytes] = answers[0] if answers else []
        if edition is None or HEADER + edition not in members:
            return edition, None
        names = [one for one in members if not one.startswith(HEADER)]
        hashes = [("HGETALL", f"{self._keys.of(scope)}:session:".encode() + name) for name in names]
        found = await self._server.pipe(*hashes) if hashes else []
        copies = [session_of(fields, edition) for fields in found or ()]
        kept = [copy.info for copy in copies if copy is not None]
        if found is None or len(kept) < len(names):
            return edition, None
        by_id = sorted(kept, key=lambda info: info.id)
        return edition, sorted(by_id, key=lambda info: info.last_seen, reverse=True)

    async def _keep_list(self, scope: Scope, edition: bytes, infos: Sequence[SessionInfo]) -> None:
        await self._keep(scope, edition, *(Copy(info=info, durable=info.expires_at) for info in infos))
        key = self._keys.active(scope)
        scored = [part for info in infos for part in (to_micros(info.expires_at), digest(info.id))]
        filled: Command = ("ZADD", key, "+inf", HEADER + edition, *scored)
        await self._editions.keep(scope, edition, ("UNLINK", key), filled, ("PEXPIRE", key, LIFE))


def spare(ttl: float) -> float:
    return min(ttl * SPARE, MOST_SPARE)


def covered(copy: Copy, *, now: datetime, ttl: float) -> bool:
    """Say whether the ledger lets a session live long enough, and not too long, after a use at this moment."""
    beyond = (copy.durable - used(copy.info, now=now, ttl=ttl).expires_at).total_seconds()
    return copy.lives(now) and 0 <= beyond <= spare(ttl)


def used(info: SessionInfo, *, now: datetime, ttl: float) -> SessionInfo:
    seen = max(info.last_seen, now)
    return replace(info, last_seen=seen, expires_at=seen + timedelta(seconds=ttl))
