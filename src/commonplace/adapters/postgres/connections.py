"""Connections of the pool, the last one used first.

The pool hands them out in turn: a lone caller would meet another process of the server at each call, and wait until
that one has read the catalogue, made its plans and filled its caches, as many times as there are connections.
"""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from psycopg.pq import TransactionStatus
from psycopg_pool import AsyncConnectionPool

from commonplace.adapters.postgres.columns import Connection

HELD = 60.0
"""Seconds until it is another one's turn: a pool renews only what it is given back."""


class Connections:
    def __init__(self, pool: AsyncConnectionPool[Connection]) -> None:
        self._pool = pool
        self._at_hand: Connection | None = None
        self._since, self._waiting, self._closed = 0.0, 0, False

    async def take(self) -> Connection:
        """Return a connection, to be given back."""
        connection, self._at_hand = self._at_hand, None
        if connection is not None:
            return connection
        self._waiting += 1
        try:
            return await self._pool.getconn()
        finally:
            self._waiting -= 1

    async def give_back(self, connection: Connection) -> None:
        """Keep it at hand for the next call, unless somebody waits for it, or it has had its time."""
        wanted = not self._closed and not self._waiting and self._at_hand is None
        idle = connection.pgconn.transaction_status == TransactionStatus.IDLE
        if wanted and idle and not self._begin_turn():
            self._at_hand = connection
        else:
            await self._pool.putconn(connection)

    def _begin_turn(self) -> bool:
        """Begin another one's turn if it is time for that. Returns whether it is."""
        now = time.monotonic()
        if now <= self._since + HELD:
            return False
        self._since = now
        return True

    @asynccontextmanager
    async def one(self) -> AsyncIterator[Connection]:
        """Lend a connection for a transaction, which ends with it."""
        connection = await self.take()
        try:
            async with connection:
                yield connection
        finally:
            await self.give_back(connection)

    async def check(self) -> None:
        """Let go of those that are broken."""
        await self._put_back()
        await self._pool.check()

    async def aclose(self) -> None:
        self._closed = True
        await self._put_back()

    async def _put_back(self) -> None:
        connection, self._at_hand = self._at_hand, None
        if connection is not None:
            await self._pool.putconn(connection)
