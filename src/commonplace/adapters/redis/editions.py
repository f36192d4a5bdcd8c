"""Which copies may be used: those of a user's present edition, which every change ends.

A copy says of which edition it is. Whoever fills one has learned the edition before reading the ledger, and puts it
there only if that is still the present one; whoever changes the ledger ends the edition before and after. So a copy is
never older than the last change, and nothing is put back after a forget, whatever the order in which processes come.
When a process cannot reach the server at all, others may use an edition for the rest of its time, which is `FRESH`
seconds at most.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any
from uuid import uuid4

from commonplace.adapters.redis.keys import Keys
from commonplace.adapters.redis.news import RedisNews
from commonplace.adapters.redis.server import FRESH, Command, Server
from commonplace.domain.scope import Scope

LIFE = int(FRESH * 1000)
CHANGING = 30_000
"""Milliseconds that copies are not used when whoever changes something dies in the middle of it."""
MARK = b"changing:"

# What another writer did, who began since or is done meanwhile, we may not know: then no edition is left.
END = """
if redis.call('get', KEYS[1]) == ARGV[1] then
    redis.call('set', KEYS[1], ARGV[2], 'px', ARGV[3])
    return 1
end
redis.call('del', KEYS[1])
return 0
"""
DROP = "if redis.call('get', KEYS[1]) == ARGV[1] then redis.call('del', KEYS[1]) end return 1"


class Change:
    """A change under way. `edition` is the new one when it is done, if nobody else has changed anything meanwhile."""

    edition: bytes | None = None


class Editions:
    def __init__(self, server: Server, keys: Keys, news: RedisNews) -> None:
        self._server, self._keys, self._news = server, keys, news

    async def read(self, scope: Scope, *commands: Command) -> tuple[bytes | None, list[Any]]:
        """Return the present edition and the answers; no edition means that no copy may be used, or made."""
        key = self._keys.edition(scope)
        answers = await self._server.pipe(("GET", key), *commands)
        if answers is None:
            return None, []
        edition, *rest = answers
        if edition is None:
            return await self._new(key), rest
        if edition.startswith(MARK):
            return None, rest
        if not edition.startswith(self._server.run.encode() + b":"):  # of an earlier life, out of a dump
            await self._server.pipe(("EVAL", DROP, 1, key, edition))
            return await self._new(key), rest
        return edition, rest

    async def _new(self, key: str) -> bytes | None:
        answers = await self._server.pipe(("SET", key, self._token(), "PX", LIFE, "NX"), ("GET", key))
        edition: bytes | None = answers[1] if answers else None
        return None if edition is None or edition.startswith(MARK) else edition

    @asynccontextmanager
    async def changing(self, scope: Scope, *, rows: bool = True) -> AsyncIterator[Change]:
        """Let nobody use a copy of this user while something changes, nor any of those that there are now.

        `rows`: what others hold in RAM has changed, too, and they are told.
        """
        key, mark, change = self._keys.edition(scope), MARK + uuid4().hex.encode(), Change()
        marked = await self._server.pipe(("SET", key, mark, "PX", CHANGING))
        try:
            yield change
        finally:
            token = self._token()
            news = [self._news.command(scope)] if rows else []
            done = await self._server.pipe(("EVAL", END, 1, key, mark, token, LIFE), *news) if marked else None
            if done is None:
                await self._gone([key])
            elif done[0]:
                change.edition = token

    async def keep(self, scope: Scope, edition: bytes, *commands: Command) -> None:
        """Make copies of this edition, unless it is over by now."""
        if commands:
            await self._server.keep(self._keys.edition(scope), edition, *commands)

    async def end(self, *scopes: Scope) -> None:
        """End the editions of users about whom something has changed."""
        await self._gone([self._keys.edition(scope) for scope in scopes])

    async def _gone(self, keys: Sequence[str]) -> None:
        """A server that is full still removes; one that is away is told when it is back."""
        if keys and await self._server.pipe(*(("UNLINK", key) for key in keys), urgent=True) is None:
            self._server.owe(*keys)

    def _token(self) -> bytes:
        return f"{self._server.run}:{uuid4().hex}".encode()
