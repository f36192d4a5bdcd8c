"""One Redis server that may be away at any time: whoever asks has an answer or None soon, and never an error.

After a failure it is left alone for a moment, so that a server that is slow does not make everything slow.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self, TypeVar, cast
from urllib.parse import parse_qs

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.connection import AbstractConnection
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import AuthenticationError, OutOfMemoryError, RedisError, ResponseError
from redis.exceptions import ConnectionError as NoConnection

from commonplace.domain.errors import InvalidInput
from commonplace.stopping import stop

T = TypeVar("T")
Command = tuple[str | bytes | int | float, ...]

SHORTEST_REST, LONGEST_REST = 0.25, 5.0
"""Seconds that a server which failed is left alone; doubled each time."""
SOON = 0.1
"""Seconds: a failure that comes as soon as that, as where nobody listens, holds nobody up."""
HEALTH = 15.0
"""A connection that was idle for so many seconds is tried before it is used."""
FRESH = 60.0
"""Seconds that a copy may be used before it is read again from the ledger."""
FULL = "full: it takes no more writes (maxmemory)"
SCHEMES = ("redis", "rediss", "unix")
OURS = frozenset({"decode_responses", "encoding", "encoding_errors", "protocol"})
"""Options that an address may not have, because they change what an answer looks like."""

# A script that has written once may go on writing to a full server, so the first write is one that changes nothing.
KEEP = """
if redis.call('get', KEYS[1]) ~= ARGV[1] then
    return 0
end
redis.call('append', KEYS[1], '')
local at = 2
for command = 2, #KEYS do
    local last = at + 1 + ARGV[at + 1]
    redis.call(ARGV[at], KEYS[command], unpack(ARGV, at + 2, last))
    at = last + 1
end
return 1
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """Where the server is, and who we are there."""

    url: str = field(repr=False)
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    ca_file: Path | None = None
    """Who vouches for the server of a `rediss://` address. None: those whom the system trusts."""
    timeout: float = 0.5
    """Seconds to connect, and for an answer."""
    connections: int = 32

    def __post_init__(self) -> None:
        scheme = self.url.partition("://")[0]
        if scheme not in SCHEMES:
            raise InvalidInput("redis_url: expected redis://, rediss:// or unix://")
        if ours := OURS & parse_qs(self.url.partition("?")[2], keep_blank_values=True).keys():
            raise InvalidInput(f"redis_url: {', '.join(sorted(ours))}: expected no word on how answers are read")
        if self.ca_file is not None and scheme != "rediss":
            raise InvalidInput(f"redis_ca_file={str(self.ca_file)!r}: expected with a rediss:// address only")
        if self.ca_file is not None and not self.ca_file.is_file():
            raise InvalidInput(f"redis_ca_file={str(self.ca_file)!r}: expected a file that is there")


class Server:
    def __init__(self, access: Access) -> None:
        self._client = Redis(connection_pool=pool(access, self._greet))
        self._run = ""
        self._rest, self._rests_until, self._hangs_until = SHORTEST_REST, 0.0, 0.0
        self._full_until = 0.0
        self._owed: dict[str, float] = {}
        self._paying: asyncio.Task[None] | None = None
        self.problem: str | None = None
        """What went wrong when it was last asked; None when it answered."""
        self.hits = self.misses = self.failures = self.skipped = 0

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._paying is not None:
            await stop(self._paying)
        await self._client.aclose()
        await self._client.connection_pool.disconnect()

    @property
    def run(self) -> str:
        """What the server calls its own life: a restart that reads an old dump is another one."""
        return self._run

    @property
    def client(self) -> "Redis":
        """For what needs a connection of its own: subscriptions."""
        return self._client

    def figures(self) -> Mapping[str, int]:
        return {
            "up": int(self.problem is None),
            "hits": self.hits,
            "misses": self.misses,
            "failures": self.failures,
            "skipped": self.skipped,
        }

    async def ask(self, work: Callable[["Redis"], Awaitable[T]], *, urgent: bool = False) -> T | None:
        """Return what the server answers; None if it does not, cannot, or was found away a moment ago.

        `urgent`: others would go on with what is not true. It is tried all the same, unless a failure takes long.
        """
        began = time.monotonic()
        if began < (self._hangs_until if urgent else self._rests_until):
            self.skipped += 1
            return None
        try:
            await self._settle()
            answer = await work(self._client)
        except (RedisError, OSError) as error:
            self._failed(error, time.monotonic() - began)
            return None
        self._rest, self._rests_until = SHORTEST_REST, 0.0
        if time.monotonic() >= self._full_until:
            self.problem = None
        return answer

    async def pipe(self, *commands: Command, urgent: bool = False) -> Sequence[Any] | None:
        """Send all commands in one go and return their answers."""

        async def work(client: "Redis") -> Sequence[Any]:
            pipeline = client.pipeline(transaction=False)
            for command in commands:
                pipeline.execute_command(*command)
            return cast(Sequence[Any], await pipeline.execute())

        return await self.ask(work, urgent=urgent)

    async def keep(self, vouching: str, token: bytes, *commands: Command) -> None:
        """Make copies, all or none, if the key that vouches for them still holds this token: nothing is put there
        again that was ended, or forgotten, while it was read. A command is a name, a key, and the rest.
        """
        keys = [command[1] for command in commands]
        rest = [part for name, _, *more in commands for part in (name, len(more), *more)]
        await self.pipe(("EVAL", KEEP, 1 + len(keys), vouching, *keys, token, *rest))

    def owe(self, *keys: str, seconds: float = FRESH) -> None:
        """These must be gone before anything else is asked: the server was away when they should have been removed.

        After so many seconds they are gone by themselves.
        """
        self._owed.update(dict.fromkeys(keys, time.monotonic() + seconds))
        if self._paying is None or self._paying.done():
            self._paying = asyncio.create_task(self._pay(), name="commonplace-redis-debts")

    async def _pay(self) -> None:
        """Others use what should be gone until then, so it does not wait for somebody who asks."""
        while self._due():
            await asyncio.sleep(max(self._rests_until - time.monotonic(), SHORTEST_REST))
            await self.pipe(("PING",))

    async def _settle(self) -> None:
        if not self._owed:
            return
        if due := self._due():
            await self._client.unlink(*due)
        for key, until in due.items():
            if self._owed.get(key) == until:  # it may be owed anew since
                del self._owed[key]

    def _due(self) -> Mapping[str, float]:
        now = time.monotonic()
        self._owed = {key: until for key, until in self._owed.items() if now < until}
        return dict(self._owed)

    def _failed(self, error: Exception, took: float) -> None:
        self.failures += 1
        self.problem = told(error)
        if self.problem == FULL:
            self._full_until = time.monotonic() + LONGEST_REST
        if isinstance(error, ResponseError) and not isinstance(error, NoConnection):  # it is there, and says no
            return
        now = time.monotonic()
        if now >= self._rests_until:  # those who fail together count once
            self._rests_until = now + self._rest
            self._rest = min(self._rest * 2, LONGEST_REST)
        if took > SOON or isinstance(error, AuthenticationError):  # who is refused too often may be locked out
            self._hangs_until = self._rests_until

    async def _greet(self, connection: AbstractConnection) -> None:
        await connection.on_connect_check_health(check_health=False)
        await connection.send_command("INFO", "server", check_health=False)
        info = bytes(await connection.read_response()).decode()
        lives = [line.partition(":")[2].strip() for line in info.splitlines() if line.startswith("run_id:")]
        if not lives:
            raise ResponseError("INFO server: no run_id")
        self._run = lives[0]


def told(error: Exception) -> str:
    """Say what failed, without anything that was in the command."""
    name = type(error).__name__
    reply = str(error).rpartition("caused error: ")[2]  # a pipeline quotes the command first
    if isinstance(error, OutOfMemoryError) or "OOM command not allowed" in reply:  # a script says where, too
        return FULL
    code = reply.lstrip("('").split(" ", 1)[0]  # some are quoted there
    if isinstance(error, ResponseError) and code.isupper():
        return f"{name} {code}"
    cause = error.__cause__ or error.__context__
    return f"{name} ({type(cause).__name__})" if isinstance(cause, OSError) else name


def pool(
    access: Access, greet: Callable[[AbstractConnection], Awaitable[None]] | None = None
) -> BlockingConnectionPool:
    """Return connections that are made when they are needed; `greet` is called on each."""
    given: dict[str, object] = {
        "max_connections": access.connections,
        "timeout": access.timeout,
        "socket_timeout": access.timeout,
        "socket_connect_timeout": access.timeout,
        "health_check_interval": HEALTH,
        "redis_connect_func": greet,
        "protocol": 2,
        # A connection that has died is replaced at once; a server that does not answer is not waited for twice.
        "retry": Retry(NoBackoff(), 1, supported_errors=(NoConnection,)),
    }
    given |= {name: value for name, value in (("username", access.username), ("password", access.password)) if value}
    if access.ca_file is not None:
        given["ssl_ca_certs"] = str(access.ca_file)
    try:
        connections = BlockingConnectionPool.from_url(access.url, **given)
        connections.make_connection()  # type: ignore[no-untyped-call]  # connected to nothing yet
    except (ValueError, TypeError):  # they quote what was taken for a port or an option, maybe part of the password
        raise InvalidInput(
            "redis_url: expected redis://user@host:port/0, and after a ? only what a connection has;"
            " write an @ in a password as %40, a / as %2F, a ? as %3F"
        ) from None
    return connections
