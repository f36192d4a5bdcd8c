"""The Ledger port on one SQLite file.

sqlite3 blocks, so calls run on threads that own their connection: one thread writes, a few read; only what takes less
time than the way there is done at once. Each call is one transaction; what it does is in the module named after its
part of the port.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from importlib.resources.abc import Traversable
from pathlib import Path
from types import MappingProxyType
from typing import Self, TypeVar

from commonplace.adapters.sqlite import (
    embeddings,
    facts,
    full_text,
    messages,
    partitions,
    sessions,
    upkeep,
    writing,
)
from commonplace.adapters.sqlite import facts as known
from commonplace.adapters.sqlite import jobs as job_queue
from commonplace.adapters.sqlite import messages as said
from commonplace.adapters.sqlite import summaries as stretches
from commonplace.adapters.sqlite.archiving import SqliteArchiving
from commonplace.adapters.sqlite.at_hand import AtHand, would_wait
from commonplace.adapters.sqlite.attachments import SqliteAttachments
from commonplace.adapters.sqlite.block_keeping import SqliteBlocks
from commonplace.adapters.sqlite.columns import Connection
from commonplace.adapters.sqlite.database import MIGRATIONS, Database, Encrypting, Synchronous
from commonplace.adapters.sqlite.erasing import SqliteErasing
from commonplace.adapters.sqlite.feeding import SqliteFeeding
from commonplace.adapters.sqlite.full_text import Unpack
from commonplace.adapters.sqlite.jotting import Jotter, is_short
from commonplace.adapters.sqlite.lanes import Clock, Lane
from commonplace.adapters.sqlite.leases import SqliteLeasing
from commonplace.adapters.sqlite.modelling import SqliteModelling
from commonplace.adapters.sqlite.noting import SqliteNoting
from commonplace.adapters.sqlite.queueing import SqliteQueueing
from commonplace.adapters.sqlite.retaining import SqliteRetaining
from commonplace.adapters.sqlite.serving import SqliteServing
from commonplace.adapters.sqlite.summarising import SqliteSummarising
from commonplace.domain.errors import Closed, InvalidInput
from commonplace.domain.scope import Scope
from commonplace.domain.states import Expected, State
from commonplace.domain.values import (
    Fact,
    FactId,
    FactVersion,
    Json,
    Message,
    MessageId,
    SessionId,
    SessionInfo,
    Source,
    SummaryId,
)
from commonplace.ports.ledger import Beside, Change, MessagePage, MessageQuery, Shown, Vector
from commonplace.ports.models import unheld
from commonplace.ports.upkeep import Finding, Grown, LedgerCounts

T = TypeVar("T")

FEW = 50
"""Rows that are read where they are asked for."""
GROUP = 64
"""At most so many waiting writes share a transaction, so that the first of them does not wait for too much."""


class SqliteLedger(
    SqliteErasing,
    SqliteQueueing,
    SqliteRetaining,
    SqliteServing,
    SqliteArchiving,
    SqliteSummarising,
    SqliteAttachments,
    SqliteBlocks,
    SqliteLeasing,
    SqliteNoting,
    SqliteFeeding,
    SqliteModelling,
):
    """A ledger in one file, open for the length of `async with`. A path of None keeps it in this process's memory."""

    def __init__(
        self,
        path: Path | None,
        *,
        synchronous: Synchronous = "FULL",
        busy_timeout: float = 10.0,
        pragmas: Mapping[str, str] = MappingProxyType({}),
        readers: int = 4,
        embeddings_kept: int = 20_000,
        unpack: Unpack | None = None,
        migrations: Traversable = MIGRATIONS,
        cipher: Encrypting | None = None,
        clock: Clock = time.perf_counter,
    ) -> None:
        """`synchronous="NORMAL"` does not wait for the disk: faster, and a power cut may take the last writes.

        `pragmas` are set on every connection, after those that the ledger stands on.
        `unpack` reads the terms of an entry; without it there is no full text. `cipher` encrypts the file.
        """
        self._database = Database(
            path=path,
            synchronous=synchronous,
            busy_timeout=busy_timeout,
            pragmas=pragmas,
            migrations=migrations,
            cipher=cipher,
        )
        self._reader_threads, self._clock = readers, clock
        self._embeddings_kept = embeddings_kept
        self._unpack = unpack
        self._writer: Lane | None = None
        self._readers: Lane | None = None
        self._at_hand: AtHand | None = None
        self._jotter: Jotter | None = None
        self._name, self._generation = "", 0

    async def __aenter__(self) -> Self:
        self._writer = Lane(
            self._database.writer,
            begin="begin immediate",
            group=GROUP,
            translate=self._database.translate,
            clock=self._clock,
        )
        self._readers = self._writer
        if self._database.path is not None:
            self._readers = Lane(
                self._database.reader,
                begin="begin",
                threads=self._reader_threads,
                translate=self._database.translate,
            )
            self._at_hand = AtHand(self._database.reader, begin="begin")
            self._jotter = Jotter(
                self._database.second_writer, self._writer, translate=self._database.translate, clock=self._clock
            )
        try:
            self._name = await self._writer.run(upkeep.ledger_name)
        except BaseException:
            await self._stop()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stop()

    async def _stop(self) -> None:
        writer, readers, self._writer, self._readers = self._writer, self._readers, None, None
        at_hand, jotter, self._at_hand, self._jotter = self._at_hand, self._jotter, None, None
        if at_hand is not None:
            at_hand.close()
        if jotter is not None:
            await jotter.aclose()
        # The writer last: the connection that closes last folds the write-ahead log into the database.
        if readers is not None and readers is not writer:
            await readers.stop()
        if writer is not None:
            await writer.stop()

    async def _write(self, work: Callable[[Connection], T]) -> T:
        if self._writer is None:
            raise Closed("the ledger is not open")
        return await self._writer.run(work)

    async def _write_few(self, work: Callable[[Connection], T]) -> T:
        """Write a few rows: here, unless that would mean to wait."""
        return await (self._write(work) if self._jotter is None else self._jotter.run(work))

    async def _write_alone(self, work: Callable[[Connection], T]) -> T:
        if self._writer is None:
            raise Closed("the ledger is not open")
        return await self._writer.run_alone(work)

    async def _read(self, work: Callable[[Connection], T]) -> T:
        if self._readers is None:
            raise Closed("the ledger is not open")
        return await self._readers.run(work)

    async def _read_few(self, work: Callable[[Connection], T]) -> T:
        """Read a few rows by their keys: here, unless that would mean to wait."""
        if self._at_hand is None:
            return await self._read(work)
        try:
            return self._at_hand.run(work)
        except Exception as error:  # noqa: BLE001 - raised in the words of the domain, or done by a thread
            if not would_wait(error):
                raise self._database.translate(error)  # noqa: B904 - which names its cause
        return await self._read(work)

    async def write(self, scope: Scope, *changes: Change) -> frozenset[MessageId]:
        def work(connection: Connection) -> tuple[frozenset[MessageId], int]:
            common = partitions.common(connection)
            known = [writing.write(connection, scope, change, common, unpack=self._unpack) for change in changes]
            return frozenset().union(*known), common.generation

        write = self._write_few if is_short(changes) else self._write
        known, self._generation = await unheld(lambda: write(work))
        return known

    async def messages_by_id(self, scope: Scope, ids: Sequence[MessageId]) -> Mapping[MessageId, Message]:
        return await self._read(lambda connection: messages.by_id(connection, scope, ids))

    async def messages(self, scope: Scope, query: MessageQuery) -> MessagePage:
        read = self._read_few if query.limit <= FEW else self._read
        return await read(lambda connection: messages.page(connection, scope, query))

    async def beside(self, scope: Scope, messages: Sequence[MessageId]) -> Mapping[MessageId, Beside]:
        return await self._read_few(lambda connection: said.beside(connection, scope, messages))

    async def facts_by_id(self, scope: Scope, ids: Sequence[FactId]) -> Mapping[FactId, Fact]:
        return await self._read(lambda connection: facts.by_id(connection, scope, ids))

    async def versions_by_id(
        self, scope: Scope, keys: Sequence[tuple[FactId, int]]
    ) -> Mapping[tuple[FactId, int], Fact]:
        return await self._read(lambda connection: facts.versions_by_id(connection, scope, keys))

    async def believed(self, scope: Scope, *, attributes: Sequence[tuple[str, str]] | None = None) -> Sequence[Fact]:
        read = self._read if attributes is None else self._read_few
        return await read(lambda connection: facts.believed(connection, scope, attributes=attributes))

    async def saying(self, scope: Scope, text: str) -> Sequence[Fact]:
        return await self._read_few(lambda connection: facts.saying(connection, scope, text))

    async def all_versions(self, scope: Scope) -> Sequence[Fact]:
        return await self._read(lambda connection: facts.all_versions(connection, scope))

    async def history(self, scope: Scope, fact: FactId) -> Sequence[FactVersion]:
        return await self._read(lambda connection: facts.history(connection, scope, fact))

    async def taught(self, scope: Scope, messages: Sequence[MessageId]) -> Mapping[MessageId, Sequence[Fact]]:
        return await self._read(lambda connection: facts.taught(connection, scope, messages))

    async def shown(
        self,
        scope: Scope,
        messages: Sequence[MessageId],
        facts: Sequence[tuple[FactId, int]] = (),
        summaries: Sequence[SummaryId] = (),
    ) -> Shown:
        return await self._read_few(
            lambda connection: Shown(
                said.by_id(connection, scope, messages) if messages else {},
                known.versions_by_id(connection, scope, facts) if facts else {},
                known.taught(connection, scope, messages) if messages else {},
                stretches.by_id(connection, scope, summaries) if summaries else {},
            )
        )

    async def sources(self, scope: Scope, fact: FactId) -> Sequence[Source]:
        return await self._read(lambda connection: facts.sources(connection, scope, fact))

    async def session_state(self, scope: Scope, session: SessionId, *, now: datetime) -> Mapping[str, Json]:
        return await self._read_few(lambda connection: sessions.state(connection, scope, session, now=now))

    async def update_session(
        self, scope: Scope, session: SessionId, values: State, *, now: datetime, ttl: float, expected: Expected = None
    ) -> State:
        return await self._write(
            lambda connection: sessions.update(connection, scope, session, values, now=now, ttl=ttl, expected=expected)
        )

    async def touch_session(self, scope: Scope, session: SessionId, *, now: datetime, ttl: float) -> SessionInfo:
        return await self._write(lambda connection: sessions.touch(connection, scope, session, now=now, ttl=ttl))

    async def end_session(self, scope: Scope, session: SessionId, *, now: datetime) -> None:
        await self._write(lambda connection: sessions.end(connection, scope, session, now=now))

    async def session_info(self, scope: Scope, session: SessionId) -> SessionInfo | None:
        return await self._read(lambda connection: sessions.info(connection, scope, session))

    async def active_sessions(self, scope: Scope, *, now: datetime) -> Sequence[SessionInfo]:
        return await self._read(lambda connection: sessions.active(connection, scope, now=now))

    async def clean_sessions(self, *, now: datetime) -> int:
        return await self._write(lambda connection: sessions.clean(connection, now=now))

    async def cached_embeddings(self, identity: str, digests: Sequence[bytes]) -> Mapping[bytes, bytes]:
        return await self._read(lambda connection: embeddings.cached(connection, identity, digests))

    async def cache_embeddings(self, identity: str, vectors: Mapping[bytes, Vector], *, now: datetime) -> None:
        await self._write(
            partial(embeddings.cache, identity=identity, vectors=vectors, now=now, keep=self._embeddings_kept)
        )

    async def epoch(self, scope: Scope) -> int:
        return await self._read_few(lambda connection: job_queue.epoch(connection, scope))

    async def build_full_text(self, scope: Scope) -> None:
        unpack = self._unpack
        if unpack is None:
            raise InvalidInput("this ledger was opened without unpack: expected a function that reads packed terms")
        after: int | None = 0
        while after is not None:
            after = await self._write(partial(full_text.build_step, scope=scope, after=after, unpack=unpack))

    async def matching(self, scope: Scope, terms: Sequence[int], *, limit: int) -> Sequence[int]:
        return await self._read(lambda connection: full_text.matching(connection, scope, terms, limit=limit))

    async def holding(self, scope: Scope, terms: Sequence[int]) -> Mapping[int, int]:
        return await self._read(lambda connection: full_text.holding(connection, scope, terms))

    async def holds_vectors(self) -> bool:
        return await self._read(upkeep.holds_vectors)

    async def embedder_identity(self) -> str | None:
        return await self._read(upkeep.embedder_identity)

    async def set_embedder_identity(self, identity: str, *, replacing: str | None = None) -> None:
        await self._write(lambda connection: upkeep.set_embedder_identity(connection, identity, replacing=replacing))

    async def counts(self, tenant: str) -> LedgerCounts:
        size = self._database.bytes_on_disk
        return await self._read(lambda connection: upkeep.counts(connection, tenant, bytes_on_disk=size()))

    async def counts_of(self, scope: Scope) -> LedgerCounts:
        size = self._database.bytes_on_disk
        return await self._read(lambda connection: upkeep.counts_of(connection, scope, bytes_on_disk=size()))

    async def growth(self, tenant: str) -> Sequence[Grown]:
        return await self._read(lambda connection: upkeep.growth(connection, tenant))

    async def check(self, *, now: datetime | None = None, repair: bool = False) -> Sequence[Finding]:
        findings = await self._read(lambda connection: upkeep.check(connection, now=now))
        if not repair:
            return findings
        return await self._write(lambda connection: upkeep.mend(connection, findings, now=now))

    @property
    def name(self) -> str:
        return self._name
