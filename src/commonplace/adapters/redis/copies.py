"""SharedCopies on Redis: how it is doing, what it did, what it tells, and that nothing forgotten is left in it."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from redis.asyncio import Redis
from redis.exceptions import ResponseError

from commonplace.adapters.redis.coding import packed_start
from commonplace.adapters.redis.keys import Keys
from commonplace.adapters.redis.news import RedisNews
from commonplace.adapters.redis.server import Server
from commonplace.domain.results import Finding
from commonplace.domain.scope import Scope
from commonplace.domain.values import MessageId
from commonplace.ports.shared import News

AT_A_TIME = 1_000
"""Keys in a step of a scan."""
AWAY = "answers come from the ledger meanwhile, and limits are counted in each process"


class RedisCopies:
    def __init__(self, server: Server, keys: Keys, news: RedisNews) -> None:
        self._server, self._keys, self._news = server, keys, news

    @property
    def name(self) -> str:
        return "redis"

    async def state(self) -> str:
        return "ok" if await self._server.pipe(("PING",)) and not self._server.problem else self._problem()

    def figures(self) -> Mapping[str, int]:
        return self._server.figures()

    def listen(self, hear: Callable[[News], None]) -> Callable[[], None]:
        return self._news.listen(hear)

    async def inspect(self) -> Sequence[Finding]:
        info = await self._server.ask(lambda client: client.info())
        if info is None:
            message = f"redis does not answer: {self._problem()}"
            return (Finding(check="redis", severity="warning", message=message, means=AWAY),)
        if self._server.problem or _full(info):
            message = f"redis is {self._problem() if self._server.problem else 'full'}"
            means = (
                f"no copies are made there, and the ledger is read instead: raise maxmemory, or let it evict; {AWAY}"
            )
            return (Finding(check="redis", severity="warning", message=message, means=means),)
        if (
            int(info.get("aof_enabled", 0))
            or int(info.get("rdb_bgsave_in_progress", 0))
            or await self._server.ask(_saves)
        ):
            message = "redis writes what it holds to disk"
            means = (
                'what is forgotten stays in its files until they are written anew: set `save ""` and `appendonly no`'
            )
            return (Finding(check="redis", severity="note", message=message, means=means),)
        return ()

    async def erase(self, scopes: Sequence[Scope], messages: Sequence[MessageId]) -> int | None:
        users = tuple(self._keys.of(scope) for scope in scopes)
        starts = tuple(map(packed_start, messages))

        async def remove(client: Redis) -> int:
            await _each(client, self._keys.base, (*users, self._keys.embeddings()), _unlink)
            return await _each(client, self._keys.base, users, lambda one, names: _holding(one, names, starts))

        return await self._server.ask(remove, urgent=True)

    def _problem(self) -> str:
        return self._server.problem or "it was away a moment ago"


def _full(info: Mapping[str, Any]) -> bool:
    most = int(info.get("maxmemory", 0))
    return bool(most) and info.get("maxmemory_policy") == "noeviction" and int(info["used_memory"]) >= most


async def _saves(client: Redis) -> bool:
    """A server that does not let us see its configuration is not judged by it."""
    try:
        return bool((await client.config_get("save")).get("save"))
    except ResponseError:
        return False


async def _each(
    client: Redis, base: str, prefixes: Sequence[str], work: Callable[[Redis, Sequence[str]], Awaitable[int]]
) -> int:
    """Do something to all keys whose names begin so, some at a time, and return the sum."""
    cursor, total = 0, 0
    while True:
        cursor, names = await client.scan(cursor, match=f"{base}:*", count=AT_A_TIME)
        told = [name.decode() if isinstance(name, bytes) else name for name in names]
        ours = [name for name in told if name.startswith(tuple(prefixes))]
        if ours:
            total += await work(client, ours)
        if not cursor:
            return total


async def _unlink(client: Redis, names: Sequence[str]) -> int:
    return int(await client.unlink(*names))


async def _holding(client: Redis, names: Sequence[str], starts: tuple[bytes, ...]) -> int:
    """Return how many of these keys hold a message that starts so."""
    pipeline = client.pipeline(transaction=False)
    for name in names:
        if ":ring:" in name:
            pipeline.lrange(name, 0, -1)
    rings = await pipeline.execute()
    return sum(any(one.startswith(starts) for one in ring) for ring in rings)
