"""The last messages of a conversation, as a list in Redis; what is not there is read from the ledger."""

from collections.abc import Sequence

from commonplace.adapters.redis.coding import packed_message, unpacked_messages
from commonplace.adapters.redis.editions import LIFE, Editions
from commonplace.adapters.redis.keys import Keys
from commonplace.adapters.redis.server import Command, Server
from commonplace.domain.scope import Scope
from commonplace.domain.values import Message, SessionId
from commonplace.ports.ledger import MessageQuery, Messages

AT_ONCE = 1_000
"""Elements in a command: a script can pass on some thousands."""


class RedisRing:
    def __init__(self, ledger: Messages, server: Server, keys: Keys, editions: Editions, *, size: int) -> None:
        self._ledger, self._server, self._keys, self._editions, self._size = ledger, server, keys, editions, size

    async def recent(self, scope: Scope, session: SessionId, *, limit: int) -> Sequence[Message]:
        key = self._keys.ring(scope, session)
        edition, answers = await self._editions.read(
            scope, ("LINDEX", key, 0), ("LRANGE", key, max(-limit, -(10**6)), -1)
        )
        if edition and answers and answers[0] == edition and limit <= self._size:
            held = unpacked_messages([one for one in answers[1] if one != edition])
            if held is not None:
                self._server.hits += 1
                return held
        self._server.misses += 1
        asked = max(limit, self._size) if edition else limit
        page = await self._ledger.messages(scope, MessageQuery(session=session, limit=asked))
        messages = list(reversed(page.messages))
        if edition:
            await self._keep(scope, key, edition, messages[-self._size :])
        return messages[-limit:]

    async def _keep(self, scope: Scope, key: str, edition: bytes, messages: Sequence[Message]) -> None:
        """The first element says of which edition the list is."""
        elements: list[bytes | str] = [edition, *map(packed_message, messages)]
        filled: list[Command] = [
            ("RPUSH", key, *elements[first : first + AT_ONCE]) for first in range(0, len(elements), AT_ONCE)
        ]
        await self._editions.keep(scope, edition, ("UNLINK", key), *filled, ("PEXPIRE", key, LIFE))
