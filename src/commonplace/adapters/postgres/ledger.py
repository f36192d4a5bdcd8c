"""The Ledger port on a PostgreSQL database.

Each call is one transaction, or one statement, on a connection of a pool; what it does is in the module named after its
part of the port.
A transaction says whose tenant's it is, and the database holds it to that; `tenant=None` is for work that is nobody's.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from datetime import datetime
from functools import partial
from importlib.resources.abc import Traversable
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from commonplace.adapters.postgres import (
    blocks,
    changes,
    embeddings,
    facts,
    feed,
    full_text,
    keeping,
    messages,
    partitions,
    sessions,
    showing,
    upkeep,
    writing,
)
from commonplace.adapters.postgres import jobs as job_queue
from commonplace.adapters.postgres import messages as said
from commonplace.adapters.postgres.archiving import PostgresArchiving
from commonplace.adapters.postgres.attachments import PostgresAttachments
from commonplace.adapters.postgres.columns import Connection
from commonplace.adapters.postgres.connections import Connections
from commonplace.adapters.postgres.database import MIGRATIONS, Database
from commonplace.adapters.postgres.erasing import PostgresErasing
from commonplace.adapters.postgres.full_text import Unpack
from commonplace.adapters.postgres.lanes import Lanes, Values
from commonplace.adapters.postgres.leases import PostgresLeasing
from commonplace.adapters.postgres.modelling import PostgresModelling
from commonplace.adapters.postgres.queueing import PostgresQueueing
from commonplace.adapters.postgres.retaining import PostgresRetaining
from commonplace.adapters.postgres.serving import PostgresServing
from commonplace.adapters.postgres.summarising import PostgresSummarising
from commonplace.domain.errors import Closed, InvalidInput
from commonplace.domain.scope import Scope
from commonplace.domain.states import Expected, State
from commonplace.domain.values import (
    Block,
    BlockVersion,
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
from commonplace.ports.ledger import Beside, Change, Feed, MessagePage, MessageQuery, Shown, Vector, Versions
from commonplace.ports.models import unheld
from commonplace.ports.upkeep import Finding, Grown, LedgerCounts

P = ParamSpec("P")
T = TypeVar("T")


class PostgresLedger(
    PostgresErasing,
    PostgresRetaining,
    PostgresServing,
    PostgresArchiving,
    PostgresSummarising,
    PostgresLeasing,
    PostgresAttachments,
    PostgresModelling,
    PostgresQueueing,
):
    """A ledger in one database, open for the length of `async with`."""

    def __init__(
        self,
        url: str,
        *,
        pool_size: int = 10,
        statement_timeout: float = 30.0,
        patience: float = 30.0,
        embeddings_kept: int = 20_000,
        unpack: Unpack | None = None,
        rewrite_up_to: int = 2**30,
        migrations: Traversable = MIGRATIONS,
    ) -> None:
        """`patience` is how many seconds a call waits for a connection, or for the server to come back.

        `unpack` reads the terms of an entry; without it there is no full text. A forget writes tables of up to
        `rewrite_up_to` bytes anew.
        """
        self._database = Database(
            url=url,
            pool_size=pool_size,
            statement_timeout=statement_timeout,
            patience=patience,
            migrations=migrations,
        )
        self._embeddings_kept = embeddings_kept
        self._unpack = unpack
        self._rewrite_up_to = rewrite_up_to
        self._open = AsyncExitStack()
        self._lanes: Lanes | None = None
        self._name, self._generation = "", 0

    async def is_there(self) -> bool:
        """Say whether the database has a ledger, before it is opened: opening makes one."""
        with self._database.in_our_words():
            return await self._database.has_ledger()

    async def __aenter__(self) -> Self:
        try:
            with self._database.in_our_words():
                pool = await self._open.enter_async_context(self._database.pool())
            connections = Connections(pool)
            self._open.push_async_callback(connections.aclose)
            self._lanes = Lanes(connections, self._database)
            self._name = await self._read(upkeep.ledger_name, tenant=None)
        except BaseException:
            await self.__aexit__()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        self._lanes = None
        await self._open.aclose()

    def _opened(self) -> Lanes:
        if self._lanes is None:
            raise Closed("the ledger is not open")
        return self._lanes

    async def _read(self, work: Callable[[Connection], Awaitable[T]], *, tenant: str | None) -> T:
        with self._database.in_our_words():
            return await self._opened().read(work, tenant=tenant)

    async def _write(self, work: Callable[[Connection], Awaitable[T]], *, tenant: str | None) -> T:
        with self._database.in_our_words():
            return await self._opened().write(work, tenant=tenant)

    async def _write_alone(self, work: Callable[[Connection], Awaitable[T]]) -> T:
        with self._database.in_our_words():
            return await self._opened().run_alone(work)

    async def _read_of(
        self,
        scope: Scope,
        read: Callable[Concatenate[Connection, Scope, P], Awaitable[T]],
        *args: P.args,
        **named: P.kwargs,
    ) -> T:
        return await self._read(lambda connection: read(connection, scope, *args, **named), tenant=scope.tenant)

    async def _write_of(
        self,
        scope: Scope,
        write: Callable[Concatenate[Connection, Scope, P], Awaitable[T]],
        *args: P.args,
        **named: P.kwargs,
    ) -> T:
        return await self._write(lambda connection: write(connection, scope, *args, **named), tenant=scope.tenant)

    async def _ask(self, scope: Scope, statement: str, values: Values) -> tuple[Any, ...]:
        with self._database.in_our_words():
            return await self._opened().ask(statement, values, tenant=scope.tenant)

    async def versions(self, scope: Scope) -> Versions:
        found = feed.placed(await self._ask(scope, feed.VERSIONS, partitions.owner_columns(scope)))
        self._generation = max(self._generation, found.generation)
        return found

    async def feed(self, scope: Scope, *, since: int = 0, vectors: bool = True) -> Feed:
        found = await self._changes(scope, since=since, vectors=vectors) if since > 0 else None
        if found is None:
            found = await self._read_of(scope, feed.feed, since=since, vectors=vectors)
        self._generation = max(self._generation, found.versions.generation)
        return found

    async def _changes(self, scope: Scope, *, since: int, vectors: bool) -> Feed | None:
        generation, (tenant, user) = self._generation, partitions.owner_columns(scope)
        statement = changes.statement(partitions.vectors_of(generation) if vectors else None)
        found = await self._ask(scope, statement, {"tenant": tenant, "user": user, "since": since})
        return changes.read(found, generation=generation)

    async def slab(self, scope: Scope, *, after: int, limit: int, vectors: bool = True) -> Feed:
        return await self._read_of(scope, feed.slab, after=after, limit=limit, vectors=vectors)

    async def rows(self, scope: Scope, numbers: Sequence[int], *, vectors: bool = True) -> Feed:
        return await self._read_of(scope, feed.rows, numbers, vectors=vectors)

    async def vectors_after(self, scope: Scope, *, after: int, limit: int) -> Mapping[int, bytes]:
        return await self._read_of(scope, feed.vectors_after, after=after, limit=limit)

    async def vectors(self, scope: Scope, numbers: Sequence[int]) -> Mapping[int, bytes]:
        return await self._read_of(scope, feed.vectors, numbers)

    async def set_vectors(
        self,
        scope: Scope,
        vectors: Mapping[int, Vector],
        *,
        tokens: Mapping[int, bytes] | None = None,
        model: str | None = None,
    ) -> None:
        await self._write_of(scope, feed.set_vectors, vectors, tokens or {}, model=model)

    async def scopes(self, tenant: str) -> Mapping[Scope, Versions]:
        return await self._read(lambda connection: feed.scopes(connection, tenant), tenant=tenant)

    async def delivered(self, scope: Scope, index: str) -> int:
        return await self._read_of(scope, feed.delivered, index)

    async def set_delivered(self, scope: Scope, index: str, version: int) -> None:
        await self._write_of(scope, feed.set_delivered, index, version)

    async def write(self, scope: Scope, *changes: Change) -> frozenset[MessageId]:
        kept = keeping.kept(scope, changes, generation=self._generation)
        if kept is None:
            return await self._write_in_steps(scope, changes)
        with self._database.in_our_words():
            told = await self._opened().tell(kept.statement, kept.values, tenant=scope.tenant)
        if told == "done":
            return frozenset()
        known = await self._write_in_steps(scope, changes)
        # Unheard, it may be there by ourselves: then it was not there before.
        return known if told == "refused" else known - kept.ours(await self.messages_by_id(scope, list(known)))

    async def _write_in_steps(self, scope: Scope, changes: Sequence[Change]) -> frozenset[MessageId]:
        known, generation = await unheld(lambda: self._write_of(scope, writing.write_all, changes, unpack=self._unpack))
        self._generation = max(self._generation, generation)
        return known

    async def messages_by_id(self, scope: Scope, ids: Sequence[MessageId]) -> Mapping[MessageId, Message]:
        return await self._read_of(scope, messages.by_id, ids)

    async def messages(self, scope: Scope, query: MessageQuery) -> MessagePage:
        return await self._read_of(scope, messages.page, query)

    async def beside(self, scope: Scope, messages: Sequence[MessageId]) -> Mapping[MessageId, Beside]:
        return await self._read_of(scope, said.beside, messages)

    async def facts_by_id(self, scope: Scope, ids: Sequence[FactId]) -> Mapping[FactId, Fact]:
        return await self._read_of(scope, facts.by_id, ids)

    async def versions_by_id(
        self, scope: Scope, keys: Sequence[tuple[FactId, int]]
    ) -> Mapping[tuple[FactId, int], Fact]:
        return await self._read_of(scope, facts.versions_by_id, keys)

    async def believed(self, scope: Scope, *, attributes: Sequence[tuple[str, str]] | None = None) -> Sequence[Fact]:
        return await self._read_of(scope, facts.believed, attributes=attributes)

    async def saying(self, scope: Scope, text: str) -> Sequence[Fact]:
        return await self._read_of(scope, facts.saying, text)

    async def all_versions(self, scope: Scope) -> Sequence[Fact]:
        return await self._read_of(scope, facts.all_versions)

    async def history(self, scope: Scope, fact: FactId) -> Sequence[FactVersion]:
        return await self._read_of(scope, facts.history, fact)

    async def taught(self, scope: Scope, messages: Sequence[MessageId]) -> Mapping[MessageId, Sequence[Fact]]:
        return await self._read_of(scope, facts.taught, messages)

    async def shown(
        self,
        scope: Scope,
        messages: Sequence[MessageId],
        facts: Sequence[tuple[FactId, int]] = (),
        summaries: Sequence[SummaryId] = (),
    ) -> Shown:
        asked = showing.Asked(messages, facts, summaries)
        return asked.shown(await self._ask(scope, asked.statement, asked.values(scope)))

    async def sources(self, scope: Scope, fact: FactId) -> Sequence[Source]:
        return await self._read_of(scope, facts.sources, fact)

    async def blocks(self, scope: Scope) -> Sequence[Block]:
        return await self._read_of(scope, blocks.blocks)

    async def set_block(self, scope: Scope, block: Block, *, expected: Block | None = None) -> Block:
        return await self._write_of(scope, blocks.set_block, block, expected=expected)

    async def append_block(
        self, scope: Scope, name: str, text: str, *, now: datetime, expected: Block | None = None
    ) -> Block:
        return await self._write_of(scope, blocks.append, name, text, now=now, expected=expected)

    async def delete_block(self, scope: Scope, name: str, *, expected: Block | None = None) -> bool:
        return await self._write_of(scope, blocks.delete, name, expected=expected)

    async def block_history(self, scope: Scope, name: str) -> Sequence[BlockVersion]:
        return await self._read_of(scope, blocks.history, name)

    async def session_state(self, scope: Scope, session: SessionId, *, now: datetime) -> Mapping[str, Json]:
        return await self._read_of(scope, sessions.state, session, now=now)

    async def update_session(
        self, scope: Scope, session: SessionId, values: State, *, now: datetime, ttl: float, expected: Expected = None
    ) -> State:
        return await self._write_of(scope, sessions.update, session, values, now=now, ttl=ttl, expected=expected)

    async def touch_session(self, scope: Scope, session: SessionId, *, now: datetime, ttl: float) -> SessionInfo:
        return await self._write_of(scope, sessions.touch, session, now=now, ttl=ttl)

    async def end_session(self, scope: Scope, session: SessionId, *, now: datetime) -> None:
        await self._write_of(scope, sessions.end, session, now=now)

    async def session_info(self, scope: Scope, session: SessionId) -> SessionInfo | None:
        return await self._read_of(scope, sessions.info, session)

    async def active_sessions(self, scope: Scope, *, now: datetime) -> Sequence[SessionInfo]:
        return await self._read_of(scope, sessions.active, now=now)

    async def clean_sessions(self, *, now: datetime) -> int:
        return await self._write(partial(sessions.clean, now=now), tenant=None)

    async def cached_embeddings(self, identity: str, digests: Sequence[bytes]) -> Mapping[bytes, bytes]:
        return await self._read(partial(embeddings.cached, identity=identity, digests=digests), tenant=None)

    async def cache_embeddings(self, identity: str, vectors: Mapping[bytes, Vector], *, now: datetime) -> None:
        await self._write(
            partial(embeddings.cache, identity=identity, vectors=vectors, now=now, keep=self._embeddings_kept),
            tenant=None,
        )

    async def epoch(self, scope: Scope) -> int:
        return await self._read_of(scope, job_queue.epoch)

    async def build_full_text(self, scope: Scope) -> None:
        unpack = self._unpack
        if unpack is None:
            raise InvalidInput("this ledger was opened without unpack: expected a function that reads packed terms")
        after: int | None = 0
        while after is not None:
            after = await self._write_of(scope, full_text.build_step, after=after, unpack=unpack)

    async def matching(self, scope: Scope, terms: Sequence[int], *, limit: int) -> Sequence[int]:
        return await self._read_of(scope, full_text.matching, terms, limit=limit)

    async def holding(self, scope: Scope, terms: Sequence[int]) -> Mapping[int, int]:
        return await self._read_of(scope, full_text.holding, terms)

    async def holds_vectors(self) -> bool:
        return await self._read(upkeep.holds_vectors, tenant=None)

    async def embedder_identity(self) -> str | None:
        return await self._read(upkeep.embedder_identity, tenant=None)

    async def set_embedder_identity(self, identity: str, *, replacing: str | None = None) -> None:
        await self._write(partial(upkeep.set_embedder_identity, identity=identity, replacing=replacing), tenant=None)

    async def counts(self, tenant: str) -> LedgerCounts:
        return await self._read(partial(upkeep.counts, tenant=tenant), tenant=tenant)

    async def counts_of(self, scope: Scope) -> LedgerCounts:
        return await self._read_of(scope, upkeep.counts_of)

    async def growth(self, tenant: str) -> Sequence[Grown]:
        return await self._read(partial(upkeep.growth, tenant=tenant), tenant=tenant)

    async def check(self, *, now: datetime | None = None, repair: bool = False) -> Sequence[Finding]:
        findings = await self._read(partial(upkeep.check, now=now), tenant=None)
        if not repair:
            return findings
        return await self._write(partial(upkeep.mend, findings=findings, now=now), tenant=None)

    @property
    def name(self) -> str:
        return self._name
