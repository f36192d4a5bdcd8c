"""The Ledger port in dictionaries: nothing is stored, nothing is shared between processes.

It is the reference that other ledgers are compared with, so it is plain before it is fast. No method awaits anything,
so each is one step of the event loop, and with that a transaction.
"""

import copy
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Self
from uuid import uuid4

import numpy as np

from commonplace.adapters.inmemory import blocks
from commonplace.adapters.inmemory.archive import InMemoryArchive
from commonplace.adapters.inmemory.models import InMemoryModels
from commonplace.adapters.inmemory.partition import Partition, Session, Version
from commonplace.adapters.inmemory.summaries import InMemorySummaries
from commonplace.domain.errors import Conflict, InvalidInput
from commonplace.domain.scope import Scope
from commonplace.domain.states import Expected, State, merged
from commonplace.domain.values import (
    Attachment,
    AttachmentId,
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
from commonplace.ports.models import made_by
from commonplace.ports.upkeep import Finding, Grown, LedgerCounts


class InMemoryLedger(InMemoryModels, InMemoryArchive, InMemorySummaries):
    def __init__(self, *, embeddings_kept: int = 20_000) -> None:
        super().__init__()
        self._embeddings_kept = embeddings_kept
        self._identity: str | None = None
        self._name = uuid4().hex

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        return None

    @property
    def name(self) -> str:
        return self._name

    def _find(self, scope: Scope) -> Partition:
        """Return the scope's partition, or an empty one that is not kept."""
        _check(scope)
        return self._partitions.get(scope, self._new(no=0))

    def _obtain(self, scope: Scope) -> Partition:
        _check(scope)
        return self._partitions.setdefault(scope, self._new(no=len(self._partitions) + 1))

    def _new(self, *, no: int) -> Partition:
        return Partition(no=no, generation=self.generation, model=self._identity)

    async def versions(self, scope: Scope) -> Versions:
        return self._find(scope).versions

    async def feed(self, scope: Scope, *, since: int = 0, vectors: bool = True) -> Feed:
        held = self._find(scope)
        changed = [n for n, passage in held.passages.items() if passage.changed > since]
        changed += [version.n for version in held.facts.values() if version.changed > since]
        changed += [one.n for one in held.summaries.values() if one.changed > since]
        removed = sorted(n for n, version in held.removed.items() if version > since)
        return held.feed(frozenset(changed), vectors=vectors)._replace(removed=removed)

    async def slab(self, scope: Scope, *, after: int, limit: int, vectors: bool = True) -> Feed:
        held = self._find(scope)
        later = sorted(n for n in held.numbers if n > after)
        return held.feed(frozenset(later[: max(limit, 1)]), vectors=vectors)

    async def rows(self, scope: Scope, numbers: Sequence[int], *, vectors: bool = True) -> Feed:
        return self._find(scope).feed(frozenset(numbers), vectors=vectors)

    async def vectors_after(self, scope: Scope, *, after: int, limit: int) -> Mapping[int, bytes]:
        held = self._find(scope).vectors
        return {n: held[n] for n in sorted(n for n in held if n > after)[: max(limit, 1)]}

    async def vectors(self, scope: Scope, numbers: Sequence[int]) -> Mapping[int, bytes]:
        held = self._find(scope).vectors
        return {n: held[n] for n in numbers if n in held}

    async def set_vectors(
        self,
        scope: Scope,
        vectors: Mapping[int, Vector],
        *,
        tokens: Mapping[int, bytes] | None = None,
        model: str | None = None,
    ) -> None:
        held = self._find(scope)
        if not made_by(held.model, model):
            return
        for n, vector in vectors.items():
            held.set_vector(n, np.asarray(vector, dtype=np.float32).tobytes(), (tokens or {}).get(n))
        if vectors:
            held.version += 1

    async def scopes(self, tenant: str) -> Mapping[Scope, Versions]:
        held = {scope: one for scope, one in self._partitions.items() if scope.tenant == tenant}
        return {scope: one.versions for scope, one in held.items() if one.holds_something}

    async def delivered(self, scope: Scope, index: str) -> int:
        return self._find(scope).delivered.get(index, 0)

    async def set_delivered(self, scope: Scope, index: str, version: int) -> None:
        self._obtain(scope).delivered[index] = version

    async def write(self, scope: Scope, *changes: Change) -> frozenset[MessageId]:
        if any(change.messages or change.versions or change.summaries for change in changes):
            await self._let_in()
        self._check_unfinished([job for change in changes for job in change.finished_jobs])
        draft = self._find(scope).draft()
        known = [draft.apply(change) for change in changes]
        if draft.version > self._find(scope).version:
            draft.no = self._obtain(scope).no
            self._partitions[scope] = draft
        for change, there in zip(changes, known, strict=True):
            for done in change.finished_jobs:
                await self.finish(done)
            for job in change.jobs if not change.messages or len(there) < len(change.messages) else ():
                self._enqueue(replace(job, epoch=draft.epoch))
        return frozenset().union(*known)

    async def messages_by_id(self, scope: Scope, ids: Sequence[MessageId]) -> Mapping[MessageId, Message]:
        held = self._find(scope).messages
        return {id_: held[id_][1] for id_ in ids if id_ in held}

    async def attachments(
        self, scope: Scope, ids: Sequence[AttachmentId] | None = None
    ) -> Mapping[AttachmentId, Attachment]:
        found: dict[AttachmentId, Attachment] = {}
        for _, message in sorted(self._find(scope).messages.values(), key=lambda item: item[0]):
            for one in message.attachments:
                if ids is None or one.id in ids:
                    found.setdefault(one.id, replace(one, text="", caption=""))
        return found

    async def messages(self, scope: Scope, query: MessageQuery) -> MessagePage:
        if query.limit < 1:
            raise InvalidInput(f"limit={query.limit}: expected 1 or more")
        newest_first = sorted(
            ((message.at, n, message) for n, message in self._find(scope).messages.values()),
            key=lambda item: item[:2],
            reverse=True,
        )
        left = [
            (at, n, message)
            for at, n, message in newest_first
            if query.session in {None, message.session} and (query.before is None or (at, n) < query.before)
        ]
        shown = left[: query.limit]
        return MessagePage(
            messages=[message for _, _, message in shown], next=shown[-1][:2] if len(left) > query.limit else None
        )

    async def beside(self, scope: Scope, messages: Sequence[MessageId]) -> Mapping[MessageId, Beside]:
        held = self._find(scope).messages
        found: dict[MessageId, Beside] = {}
        for id_ in messages:
            session = held[id_][1].session if id_ in held else None
            if session is not None:
                order = sorted((one.at, n, one.id) for n, one in held.values() if one.session == session)
                ids = [None, *(one for _, _, one in order), None]
                place = ids.index(id_)
                found[id_] = Beside(ids[place - 1], ids[place + 1])
        return found

    async def facts_by_id(self, scope: Scope, ids: Sequence[FactId]) -> Mapping[FactId, Fact]:
        held = self._find(scope)
        found = {id_: list(held.versions_of(id_)) for id_ in ids}
        return {id_: held.whole(versions[-1]) for id_, versions in found.items() if versions}

    async def versions_by_id(
        self, scope: Scope, keys: Sequence[tuple[FactId, int]]
    ) -> Mapping[tuple[FactId, int], Fact]:
        held = self._find(scope)
        return {key: held.whole(held.facts[key]) for key in keys if key in held.facts}

    async def believed(self, scope: Scope, *, attributes: Sequence[tuple[str, str]] | None = None) -> Sequence[Fact]:
        return [
            fact
            for fact in await self.all_versions(scope)
            if fact.retracted_at is None and (attributes is None or (fact.subject, fact.attribute) in attributes)
        ]

    async def saying(self, scope: Scope, text: str) -> Sequence[Fact]:
        return [fact for fact in await self.believed(scope) if fact.text == text]

    async def all_versions(self, scope: Scope) -> Sequence[Fact]:
        held = self._find(scope)
        return [held.whole(version) for version in sorted(held.facts.values(), key=lambda version: version.n)]

    async def history(self, scope: Scope, fact: FactId) -> Sequence[FactVersion]:
        held = self._find(scope)
        return [
            FactVersion(
                fact=held.whole(version),
                changes=tuple(
                    change for change in held.history if (change.fact, change.version) == (fact, version.fact.version)
                ),
            )
            for version in held.versions_of(fact)
        ]

    async def shown(
        self,
        scope: Scope,
        messages: Sequence[MessageId],
        facts: Sequence[tuple[FactId, int]] = (),
        summaries: Sequence[SummaryId] = (),
    ) -> Shown:
        return Shown(
            await self.messages_by_id(scope, messages),
            await self.versions_by_id(scope, facts),
            await self.taught(scope, messages),
            await self.summaries_by_id(scope, summaries),
        )

    async def taught(self, scope: Scope, messages: Sequence[MessageId]) -> Mapping[MessageId, Sequence[Fact]]:
        held = self._find(scope)
        taught: dict[MessageId, Sequence[Fact]] = {}
        for message in messages:
            facts = {source.fact for source in held.sources if source.message == message and source.role == "said"}
            latest = [list(held.versions_of(fact)) for fact in facts]
            if facts:
                in_order = sorted(latest, key=lambda versions: versions[0].n)
                taught[message] = [held.whole(versions[-1]) for versions in in_order]
        return taught

    async def sources(self, scope: Scope, fact: FactId) -> Sequence[Source]:
        return [source for source in self._find(scope).sources if source.fact == fact]

    async def blocks(self, scope: Scope) -> Sequence[Block]:
        return sorted(self._find(scope).blocks.values(), key=lambda block: (block.order, block.name))

    async def set_block(self, scope: Scope, block: Block, *, expected: Block | None = None) -> Block:
        blocks.check(expected, self._find(scope).blocks.get(block.name))
        return blocks.put(self._obtain(scope), block)

    async def append_block(
        self, scope: Scope, name: str, text: str, *, now: datetime, expected: Block | None = None
    ) -> Block:
        known = self._find(scope).blocks.get(name)
        longer = f"{known.text}\n{text}" if known is not None and known.text else text
        block = Block(name=name, text=longer, order=blocks.KEEP_PLACE, updated_at=now)
        return await self.set_block(scope, block, expected=expected)

    async def delete_block(self, scope: Scope, name: str, *, expected: Block | None = None) -> bool:
        blocks.check(expected, self._find(scope).blocks.get(name))
        return blocks.delete(self._find(scope), name)

    async def block_history(self, scope: Scope, name: str) -> Sequence[BlockVersion]:
        return blocks.history(self._find(scope), name)

    async def session_state(self, scope: Scope, session: SessionId, *, now: datetime) -> Mapping[str, Json]:
        known = self._find(scope).sessions.get(session)
        return copy.deepcopy(known.state) if known is not None and known.lives(now) else {}

    async def update_session(
        self, scope: Scope, session: SessionId, values: State, *, now: datetime, ttl: float, expected: Expected = None
    ) -> State:
        changed = merged(await self.session_state(scope, session, now=now), copy.deepcopy(dict(values)), expected)
        held = self._obtain(scope)
        held.sessions[session] = replace(held.keep_alive(session, now=now, ttl=ttl), state=changed)
        return await self.session_state(scope, session, now=now)

    async def touch_session(self, scope: Scope, session: SessionId, *, now: datetime, ttl: float) -> SessionInfo:
        held = self._obtain(scope)
        return _info(held, session, held.keep_alive(session, now=now, ttl=ttl))

    async def end_session(self, scope: Scope, session: SessionId, *, now: datetime) -> None:
        held = self._find(scope).sessions
        if session in held:
            held[session] = replace(held[session], state={}, ended_at=held[session].ended_at or now)

    async def session_info(self, scope: Scope, session: SessionId) -> SessionInfo | None:
        held = self._find(scope)
        return _info(held, session, held.sessions[session]) if session in held.sessions else None

    async def active_sessions(self, scope: Scope, *, now: datetime) -> Sequence[SessionInfo]:
        held = self._find(scope)
        infos = [_info(held, id_, session) for id_, session in held.sessions.items() if session.lives(now)]
        by_id = sorted(infos, key=lambda info: info.id)
        return sorted(by_id, key=lambda info: info.last_seen, reverse=True)

    async def clean_sessions(self, *, now: datetime) -> int:
        cleaned = 0
        for held in self._partitions.values():
            for id_, session in held.sessions.items():
                if session.state and session.expires_at <= now:
                    held.sessions[id_] = replace(session, state={})
                    cleaned += 1
        return cleaned

    async def cached_embeddings(self, identity: str, digests: Sequence[bytes]) -> Mapping[bytes, bytes]:
        keys = ((digest, (identity, digest)) for digest in digests)
        return {digest: self._embeddings[key] for digest, key in keys if key in self._embeddings}

    async def cache_embeddings(self, identity: str, vectors: Mapping[bytes, Vector], *, now: datetime) -> None:
        for digest, vector in vectors.items():
            self._embeddings.setdefault((identity, digest), np.asarray(vector, dtype=np.float32).tobytes())
        for key in list(self._embeddings)[: -self._embeddings_kept]:
            del self._embeddings[key]

    async def epoch(self, scope: Scope) -> int:
        return self._find(scope).epoch

    async def embedder_identity(self) -> str | None:
        return self._identity

    async def holds_vectors(self) -> bool:
        return any(held.vectors for held in self._partitions.values() if not held.own_model)

    async def set_embedder_identity(self, identity: str, *, replacing: str | None = None) -> None:
        if self._identity not in {None, identity, replacing}:
            raise Conflict(f"this ledger holds vectors of {self._identity!r}, not of {identity!r}")
        self._identity = identity
        for held in self._partitions.values():
            held.model = held.model if held.own_model else identity

    async def counts(self, tenant: str) -> LedgerCounts:
        return self._count([scope for scope in self._partitions if scope.tenant == tenant], tenant=tenant)

    async def counts_of(self, scope: Scope) -> LedgerCounts:
        return self._count([scope], tenant=scope.tenant, user_only=True)

    def _count(self, scopes: Sequence[Scope], *, tenant: str, user_only: bool = False) -> LedgerCounts:
        held = [self._find(scope) for scope in scopes]
        jobs = [
            job.status
            for job in self._jobs.values()
            if job.scope.tenant == tenant and (not user_only or job.scope in scopes)
        ]
        rows = sum(one.versions.rows for one in held)
        return LedgerCounts(
            users=sum(one.holds_something for one in held),
            messages=sum(len(one.messages) for one in held),
            facts=sum(len({fact for fact, _ in one.facts}) for one in held),
            fact_versions=sum(len(one.facts) for one in held),
            blocks=sum(len(one.blocks) for one in held),
            sessions=sum(len(one.sessions) for one in held),
            rows=rows,
            rows_without_vector=rows - sum(len(one.vectors) for one in held),
            jobs={status: jobs.count(status) for status in set(jobs)},
            bytes_on_disk=0,
        )

    async def growth(self, tenant: str) -> Sequence[Grown]:
        held = [one for scope, one in self._partitions.items() if scope.tenant == tenant]
        messages = Counter(message.at.date() for one in held for _, message in one.messages.values())
        facts = Counter(fact.fact.said_at.date() for one in held for fact in _first_versions(one))
        days = sorted(messages.keys() | facts.keys())
        return [Grown(day=day, messages=messages[day], facts=facts[day]) for day in days]

    async def check(self, *, now: datetime | None = None, repair: bool = False) -> Sequence[Finding]:
        return []


def _first_versions(held: Partition) -> Iterator[Version]:
    return (next(held.versions_of(fact)) for fact in {fact for fact, _ in held.facts})


def _check(scope: Scope) -> None:
    if scope.user == "":
        raise InvalidInput("user='': expected a name, or None for the anonymous user")


def _info(held: Partition, id_: SessionId, session: Session) -> SessionInfo:
    return SessionInfo(
        id=id_,
        started_at=session.started_at,
        last_seen=session.last_seen,
        expires_at=session.expires_at,
        messages=sum(message.session == id_ for _, message in held.messages.values()),
        ended_at=session.ended_at,
    )
