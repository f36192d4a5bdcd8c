"""Who was changed, told to every process over a channel. To miss it is no harm: the ledger's version is the truth."""

import asyncio
import json
import logging
from collections.abc import Callable
from uuid import uuid4

from redis.asyncio.client import PubSub
from redis.exceptions import ConnectionError as NoConnection
from redis.exceptions import RedisError

from commonplace.adapters.redis.keys import Keys
from commonplace.adapters.redis.server import LONGEST_REST, SHORTEST_REST, Command, Server
from commonplace.domain.scope import Scope
from commonplace.ports.shared import Changed, Missed, News
from commonplace.stopping import stop

LOG = logging.getLogger(__name__)
PATIENCE = 5.0
"""Seconds to wait for the next news before looking whether the connection still is one."""


class RedisNews:
    def __init__(self, server: Server, keys: Keys) -> None:
        self._server, self._channel = server, keys.news
        self._me = uuid4().hex
        self._ears: list[Callable[[News], None]] = []
        self._task: asyncio.Task[None] | None = None
        self._closing = self._heard_before = False

    def command(self, scope: Scope, *, forgotten: bool = False) -> Command:
        """Return the command that tells of a change."""
        return ("PUBLISH", self._channel, json.dumps([self._me, scope.tenant, scope.user, forgotten]))

    def listen(self, hear: Callable[[News], None]) -> Callable[[], None]:
        self._ears.append(hear)
        if self._task is None:
            self._task = asyncio.create_task(self._stay(), name="commonplace-redis-news")
        return lambda: self._ears.remove(hear)

    async def aclose(self) -> None:
        self._closing = True  # seen where a cancellation would be lost, see `stop`
        if self._task is not None:
            await stop(self._task)
            self._task = None

    async def _stay(self) -> None:
        rest = SHORTEST_REST
        while not self._closing:
            try:
                async with self._server.client.pubsub() as channel:
                    await channel.subscribe(self._channel)
                    rest = SHORTEST_REST
                    await self._hear(channel)
            except (RedisError, OSError) as error:
                LOG.info("no news from redis for a while: %s", type(error).__name__)
                await asyncio.sleep(rest)
                rest = min(rest * 2, LONGEST_REST)

    async def _hear(self, channel: PubSub) -> None:
        asked = False
        while not self._closing:
            message = await channel.get_message(timeout=PATIENCE)
            if message is None and asked:
                raise NoConnection("no answer to a ping")
            asked = message is None
            if message is None:
                await channel.ping()
            elif message["type"] == "subscribe":
                self._subscribed()
            elif message["type"] == "message":
                self._take(message["data"])

    def _subscribed(self) -> None:
        """It comes again when a connection was lost and the client has made another one, of which it says nothing."""
        if self._heard_before:
            self._tell(Missed())
        self._heard_before = True

    def _take(self, data: bytes) -> None:
        match _parsed(data):
            case [str(who), str(tenant), str() | None as user, bool(forgotten)]:
                if who != self._me:
                    self._tell(Changed(Scope(tenant, user), forgotten))
            case _:
                LOG.warning("something on the news channel was not ours")

    def _tell(self, news: News) -> None:
        for hear in list(self._ears):
            hear(news)


def _parsed(data: bytes) -> object:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None
