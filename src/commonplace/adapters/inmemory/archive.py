"""All of the dictionaries as records, and in again, with the promises of `ports.archive`."""

import copy
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import AsyncGenerator, Iterator, Sequence
from dataclasses import replace
from functools import singledispatchmethod
from typing import Literal

import numpy as np

from commonplace.adapters.inmemory import blocks
from commonplace.adapters.inmemory.erasure import InMemoryErasure
from commonplace.adapters.inmemory.partition import Partition, Session
from commonplace.domain.archive import (
    FORMAT,
    NAMES,
    PLAIN,
    Held,
    KeptErasure,
    KeptFact,
    KeptJob,
    KeptMessage,
    KeptSession,
    KeptSummary,
    OfTenant,
    OfTenants,
    OfUser,
    Opened,
    Passage,
    Record,
    Spent,
    Written,
)
from commonplace.domain.errors import InvalidInput, NotFound
from commonplace.domain.keys import Key
from commonplace.domain.retention import Hold
from commonplace.domain.scope import Scope
from commonplace.domain.usage import NOTHING
from commonplace.domain.values import Block, BlockVersion, FactChange, Source
from commonplace.ports.erasure import Erased
from commonplace.ports.jobs import Job
from commonplace.ports.ledger import ClosedVersion, Entry, NewMessage, NewSummary, NewVersion

BATCH = 256
Outcome = Literal["added", "known", "loose"]


class InMemoryArchive(InMemoryErasure, ABC):
    _identity: str | None
    _name: str

    @abstractmethod
    def _find(self, scope: Scope) -> Partition: ...

    @abstractmethod
    def _obtain(self, scope: Scope) -> Partition: ...

    @abstractmethod
    async def _let_in(self) -> None: ...

    async def read_archive(
        self, scope: Scope | None = None, *, passages: bool = True
    ) -> AsyncGenerator[Sequence[Record], None]:
        everything = list(self._records(scope, passages=passages))
        for start in range(0, len(everything), BATCH):
            yield everything[start : start + BATCH]

    def _records(self, scope: Scope | None, *, passages: bool) -> Iterator[Record]:
        own = scope is None and any(held.own_model for held in self._partitions.values())
        held = None if scope is None else self._partitions.get(scope)
        yield Opened(
            format=FORMAT if own else PLAIN, ledger=self._name, embedder=self._identity if held is None else held.model
        )
        if scope is not None:
            yield OfTenant(scope.tenant)
            yield from self._user(scope, passages=passages)
            return
        scopes = {*self._partitions, *(job.scope for job in self._jobs.values())}
        keys = sorted(self._keys.values(), key=lambda key: key.created_at)
        userless = {
            *(tenant for tenant, _ in self._usage),
            *(key.tenant for key in keys),
            *(held.tenant for held in self._holds),
        }
        for tenant in sorted({one.tenant for one in scopes} | userless):
            yield OfTenant(tenant)
            for spender, day in sorted(self._usage):
                if spender == tenant:
                    yield Spent(day=day, usage=self._usage[tenant, day])
            yield from (key for key in keys if key.tenant == tenant)
            yield from (hold for scope, hold in self._holds.items() if scope.tenant == tenant)
            for one in sorted(scopes, key=lambda one: one.user or ""):
                if one.tenant == tenant:
                    yield from self._user(one, passages=passages)

    def _user(self, scope: Scope, *, passages: bool) -> Iterator[Record]:
        held = self._find(scope)
        yield OfUser(scope.user, held.versions.model)
        yield from _rows(held, passages=passages)
        for one in sorted(held.summaries.values(), key=lambda one: one.n):
            whole = _passage(held, one.n, 0, len(one.summary.text), one.terms) if passages else None
            yield KeptSummary(summary=one.summary, passage=whole)
        first = {fact: next(held.versions_of(fact)).n for fact, _ in held.facts}
        yield from sorted(held.sources, key=lambda source: first[source.fact])
        yield from sorted(held.history, key=lambda change: first[change.fact])
        yield from blocks.versions(held)
        yield from sorted(held.blocks.values(), key=lambda block: (block.order, block.name))
        yield from _sessions(held)
        yield from self._erasures(scope)
        for job in sorted(self._jobs.values(), key=lambda job: job.run_at):
            if job.scope == scope:
                yield _kept_job(job)

    def _erasures(self, scope: Scope) -> Iterator[KeptErasure]:
        for id_, (erased, _) in self._erased.items():
            if erased.scope == scope:
                yield KeptErasure(
                    id=id_,
                    what=erased.what,
                    at=erased.at,
                    counts=erased.counts,
                    digest=erased.digest,
                    receipt=self._receipts.get(id_),
                )

    async def write_archive(self, scope: Scope, records: Sequence[Held], *, model: str | None = None) -> Written:
        counts: dict[Outcome, Counter[str]] = {"added": Counter(), "known": Counter(), "loose": Counter()}
        _check(records)
        if any(isinstance(record, (KeptMessage, KeptFact, KeptSummary)) for record in records):
            await self._let_in()
        of_user = any(not isinstance(record, OfTenants) for record in records)
        held = self._obtain(scope) if of_user else self._find(scope)
        draft = _Draft(held.draft(), model)
        draft.partition.blocks, draft.partition.block_versions = dict(held.blocks), dict(held.block_versions)
        for record in records:
            try:
                outcome = self._elsewhere(record, scope) or draft.write(record)
            except NotFound:
                outcome = "loose"
            counts[outcome][NAMES[type(record)]] += 1
        if of_user:
            self._partitions[scope] = draft.finished()
        return Written(**counts)

    def _elsewhere(self, record: Held, scope: Scope) -> Outcome | None:
        """Write what is not kept in the user's partition; None for what is."""
        match record:
            case KeptErasure():
                return self._write_erasure(record, scope)
            case KeptJob():
                known = record.id in self._jobs
                self._enqueue(_job(record, scope, epoch=self._find(scope).epoch))
                return _new(not known)
            case Spent():
                known_usage = self._usage.get((scope.tenant, record.day), NOTHING)
                missing = record.usage.beyond(known_usage)
                self._usage[scope.tenant, record.day] = known_usage + missing
                return _new(missing != NOTHING)
            case Key():
                return self._write_key(record, scope.tenant)
            case Hold():
                on_hold = Scope(scope.tenant, record.user)
                known = on_hold in self._holds
                self._holds.setdefault(on_hold, record)
                return _new(not known)
        return None

    def _write_key(self, record: Key, tenant: str) -> Outcome:
        known = self._keys.get(record.id)
        if known is None:
            self._keys[record.id] = replace(record, tenant=tenant)
        elif known.revoked_at is None:
            self._keys[record.id] = replace(known, revoked_at=record.revoked_at)
        return _new(known is None)

    def _write_erasure(self, record: KeptErasure, scope: Scope) -> Outcome:
        if record.id in self._erased:
            return "known"
        erased = Erased(
            id=record.id,
            scope=scope,
            number=self._find(scope).no,
            version=0,
            what=record.what,
            at=record.at,
            counts=record.counts,
            digest=record.digest,
        )
        self._erased[record.id] = (erased, frozenset())
        if record.receipt is not None:
            self._receipts[record.id] = record.receipt
        return "added"


def _check(records: Sequence[Held]) -> None:
    for record in records:
        match record:
            case KeptMessage(passages=()):
                raise InvalidInput(f"message {record.message.id!r} has no passages: expected at least one")
            case KeptSummary(passage=None):
                raise InvalidInput(f"summary {record.summary.id!r} has no passage: expected one")
            case KeptFact(passage=None):
                raise InvalidInput(f"fact {record.fact.id!r} has no passage: expected one")


class _Draft:
    """What one user holds, being written to."""

    def __init__(self, partition: Partition, model: str | None) -> None:
        """`model` made the vectors."""
        self.partition, self._model = partition, model
        self._rows = partition.next_row
        self._facts_changed = False

    def finished(self) -> Partition:
        self.partition.fact_version += self._facts_changed
        self.partition.version += self._facts_changed or self.partition.next_row > self._rows
        return self.partition

    @singledispatchmethod
    def write(self, record: Held) -> Outcome:
        raise TypeError(f"{type(record).__name__} is not a record of an archive")

    @write.register
    def _(self, record: KeptMessage) -> Outcome:
        known = record.message.id in self.partition.messages
        entries = tuple(_entry(passage, self._model) for passage in record.passages)
        self.partition.add_message(NewMessage(message=record.message, entries=entries), session_ttl=None)
        return _new(not known)

    @write.register
    def _(self, record: KeptFact) -> Outcome:
        fact = record.fact
        assert record.passage is not None
        known = self.partition.facts.get((fact.id, fact.version))
        if known is not None:
            if known.fact.retracted_at is None and fact.retracted_at is not None:
                self.partition.close(
                    ClosedVersion(
                        fact=fact.id,
                        version=fact.version,
                        retracted_at=fact.retracted_at,
                        replaced_by=fact.replaced_by,
                    )
                )
                self._facts_changed = True
            return "known"
        has_open = any(version.fact.retracted_at is None for version in self.partition.versions_of(fact.id))
        if has_open and fact.retracted_at is None:
            return "loose"
        self.partition.add_version(NewVersion(fact=fact, entry=_entry(record.passage, self._model)))
        self._facts_changed = True
        return "added"

    @write.register
    def _(self, record: KeptSummary) -> Outcome:
        assert record.passage is not None
        if record.summary.id in self.partition.summaries:
            return "known"
        covered = {message for one in self.partition.summaries.values() for message in one.summary.messages}
        if covered & set(record.summary.messages):
            return "loose"
        self.partition.add_summary(NewSummary(summary=record.summary, entry=_entry(record.passage, self._model)))
        return "added"

    @write.register
    def _(self, record: Source) -> Outcome:
        known = record in self.partition.sources
        if not known:
            self.partition.add_source(record)
            self._facts_changed = True
        return _new(not known)

    @write.register
    def _(self, record: FactChange) -> Outcome:
        known = record in self.partition.history
        if not known:
            self.partition.add_change(record)
            self._facts_changed = True
        return _new(not known)

    @write.register
    def _(self, record: BlockVersion) -> Outcome:
        return _new(blocks.keep_version(self.partition, record))

    @write.register
    def _(self, record: Block) -> Outcome:
        known = self.partition.blocks.get(record.name)
        if known is not None and known.updated_at >= record.updated_at:
            return "known"
        blocks.put(self.partition, record)
        return "added"

    @write.register
    def _(self, record: KeptSession) -> Outcome:
        known = record.id in self.partition.sessions
        if not known:
            self.partition.sessions[record.id] = Session(
                started_at=record.started_at,
                last_seen=record.last_seen,
                expires_at=record.expires_at,
                ended_at=record.ended_at,
                state=copy.deepcopy(dict(record.state)),
            )
        return _new(not known)


def _new(inserted: bool) -> Outcome:
    return "added" if inserted else "known"


def _entry(passage: Passage, model: str | None) -> Entry:
    vector = None if passage.vector is None else np.frombuffer(passage.vector, dtype=np.float32)
    return Entry(
        start=passage.start, stop=passage.stop, terms=passage.terms, vector=vector, tokens=passage.tokens, model=model
    )


def _rows(held: Partition, *, passages: bool) -> Iterator[KeptMessage | KeptFact]:
    rows: dict[int, KeptMessage | KeptFact] = {}
    spans: dict[int, list[Passage]] = {}
    for n, passage in sorted(held.passages.items()):
        entry = passage.entry
        spans.setdefault(passage.first, []).append(_passage(held, n, entry.start, entry.stop, entry.terms))
    for n, message in held.messages.values():
        copied = replace(message, metadata=copy.deepcopy(dict(message.metadata)))
        rows[n] = KeptMessage(message=copied, passages=tuple(spans[n]) if passages else ())
    for version in held.facts.values():
        fact = held.whole(version)
        whole = _passage(held, version.n, 0, len(fact.text), version.terms)
        rows[version.n] = KeptFact(fact=fact, passage=whole if passages else None)
    return iter([rows[n] for n in sorted(rows)])


def _passage(held: Partition, n: int, start: int, stop: int, terms: bytes) -> Passage:
    return Passage(start=start, stop=stop, terms=terms, vector=held.vectors.get(n), tokens=held.tokens.get(n))


def _sessions(held: Partition) -> Iterator[KeptSession]:
    for id_, session in sorted(held.sessions.items()):
        yield KeptSession(
            id=id_,
            started_at=session.started_at,
            last_seen=session.last_seen,
            expires_at=session.expires_at,
            ended_at=session.ended_at,
            state=copy.deepcopy(session.state),
        )


def _kept_job(job: Job) -> KeptJob:
    return KeptJob(
        id=job.id,
        kind=job.kind,
        payload=copy.deepcopy(job.payload),
        attempts=job.attempts,
        run_at=job.run_at,
        status="dead" if job.status == "dead" else "queued",
        error=job.error,
    )


def _job(record: KeptJob, scope: Scope, *, epoch: int) -> Job:
    return Job(
        id=record.id,
        scope=scope,
        kind=record.kind,
        payload=record.payload,
        epoch=epoch,
        attempts=record.attempts,
        run_at=record.run_at,
        status=record.status,
        error=record.error,
    )
