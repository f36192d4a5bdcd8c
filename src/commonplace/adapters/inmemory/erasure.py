"""Forgetting, in dictionaries, with the promises of `ports.erasure`. There are no files to be scrubbed."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime

from commonplace.adapters.inmemory.jobs import InMemoryJobs
from commonplace.adapters.inmemory.leases import InMemoryLeases
from commonplace.adapters.inmemory.partition import Partition, Version
from commonplace.adapters.inmemory.retaining import InMemoryRetaining
from commonplace.adapters.inmemory.serving import InMemoryServing
from commonplace.domain.errors import Conflict
from commonplace.domain.receipts import Part, Receipt, digest_of
from commonplace.domain.retention import Due
from commonplace.domain.scope import Scope
from commonplace.domain.values import FactChange, FactId, Json, Message, MessageId, SessionId
from commonplace.ports.erasure import Erased, Removal, Reopened, without


class InMemoryErasure(InMemoryServing, InMemoryRetaining, InMemoryLeases, InMemoryJobs):
    def __init__(self) -> None:
        super().__init__()
        self._embeddings: dict[tuple[str, bytes], bytes] = {}
        self._erased: dict[str, tuple[Erased, frozenset[int]]] = {}
        self._receipts: dict[str, Receipt] = {}
        self._places: dict[str, None] = {}

    async def chosen(self, scope: Scope, what: Part) -> Sequence[MessageId]:
        held = self._partitions.get(scope, Partition(no=0)).messages.values()
        found = [
            (message.at, n, message.id)
            for n, message in held
            if what.session in (None, message.session)
            and what.message in (None, message.id)
            and (what.before is None or message.at < what.before)
            and (what.due is None or _is_due(message, what.due))
        ]
        return [id_ for *_, id_ in sorted(found)]

    async def touched(self, scope: Scope, messages: Sequence[MessageId]) -> Sequence[FactId]:
        held = self._partitions.get(scope, Partition(no=0))
        named = {one.fact for one in held.sources if one.message in messages}
        named |= {change.fact for change in held.history if change.message in messages}
        return sorted(named, key=lambda fact: next(held.versions_of(fact)).n)

    async def sessions_before(self, scope: Scope, moment: datetime) -> Sequence[SessionId]:
        held = self._partitions.get(scope, Partition(no=0)).sessions
        found = [(session.started_at, id_) for id_, session in held.items() if session.last_seen < moment]
        return [id_ for _, id_ in sorted(found)]

    async def erase(self, scope: Scope, removal: Removal, *, dry_run: bool = False) -> Erased:
        self._refuse_held(scope)
        held = self._partitions.get(scope) or Partition(no=len(self._partitions) + 1)
        if removal.facts_seen not in (None, held.fact_version):
            raise Conflict("the facts of this user have changed since they were read")
        draft = held.draft()
        draft.blocks, draft.delivered, draft.removed = dict(held.blocks), {}, dict(held.removed)
        counts, digest, numbers = _erase(draft, removal)
        jobs = self._pruned_jobs(scope, removal)
        counts |= {"jobs": sum(left is None for left in jobs.values()), "embeddings": len(self._embeddings)}
        erased = Erased(
            id=removal.id,
            scope=scope,
            number=draft.no,
            version=draft.version,
            what=removal.what,
            at=removal.at,
            counts=counts,
            digest=digest,
        )
        if not dry_run:
            self._partitions[scope] = draft
            self._embeddings.clear()
            self._forget_answers(scope)
            self._erased[removal.id] = (erased, numbers)
            self._requeue(jobs, epoch=draft.epoch)
        return erased

    async def erase_tenant(
        self, tenant: str, *, at: datetime, new_id: Callable[[], str], dry_run: bool = False
    ) -> Sequence[Erased]:
        held = [scope for scope, one in self._partitions.items() if scope.tenant == tenant and one.holds_something]
        queued = [job.scope for job in self._jobs.values() if job.scope.tenant == tenant]
        for scope in held:
            self._refuse_held(scope)
        erased = [
            await self.erase(scope, Removal(id=new_id(), what=Part(), at=at), dry_run=dry_run)
            for scope in dict.fromkeys([*held, *queued])
        ]
        if not dry_run:
            self._usage = {key: usage for key, usage in self._usage.items() if key[0] != tenant}
        return erased

    def _pruned_jobs(self, scope: Scope, removal: Removal) -> dict[str, Json]:
        """Return what is left of the payload of each job of a user; None for one that goes."""
        ids, mine = frozenset(removal.messages), [job for job in self._jobs.values() if job.scope == scope]
        return {job.id: None if removal.what.whole else without(job.payload, ids) for job in mine}

    def _requeue(self, jobs: dict[str, Json], *, epoch: int) -> None:
        for id_, left in jobs.items():
            job = self._jobs[id_]
            if left is None:
                del self._jobs[id_], self._due[id_]
                continue
            running = job.status == "running"
            self._jobs[id_] = replace(job, payload=left, epoch=epoch, status="queued" if running else job.status)
            self._due[id_] = job.run_at if running else self._due[id_]

    async def pending_erasures(self) -> Sequence[Erased]:
        return [erased for id_, (erased, _) in self._erased.items() if id_ not in self._receipts]

    async def scrub(self) -> Sequence[str]:
        return ()

    async def remains(self, erased: Erased) -> int:
        held, numbers = self._partitions[erased.scope], self._erased[erased.id][1]
        there = {*held.numbers, *held.vectors, *held.aside}
        return len(numbers & there)

    async def conclude(self, receipt: Receipt, erased: Erased) -> Receipt:
        return self._receipts.setdefault(erased.id, receipt)

    async def add_snapshot_place(self, place: str, *, latest: str) -> None:
        self._places[place] = None

    async def snapshot_places(self) -> Sequence[str]:
        return sorted(self._places)

    async def receipts(self, scope: Scope) -> Sequence[Receipt]:
        mine = [id_ for id_, (erased, _) in self._erased.items() if erased.scope == scope]
        return [self._receipts[id_] for id_ in mine if id_ in self._receipts]


def _is_due(message: Message, due: Due) -> bool:
    expired = message.expires_at is not None and message.expires_at <= due.at
    return expired or ("message" in due.said_before and message.at < due.said_before["message"])


def _erase(held: Partition, removal: Removal) -> tuple[dict[str, int], str, frozenset[int]]:
    """Remove it from a draft. Returns the counts, the digest, and the numbers of the rows that went."""
    whole = removal.what.whole
    messages = set(held.messages) if whole else set(removal.messages) & set(held.messages)
    facts = {fact for fact, _ in held.facts} if whole else set(removal.facts)
    passages = {n for n, passage in held.passages.items() if passage.message.id in messages}
    versions = {key: version for key, version in held.facts.items() if key[0] in facts}
    summaries = {
        id_: one.n for id_, one in held.summaries.items() if whole or messages.intersection(one.summary.messages)
    }
    numbers = frozenset(passages | {version.n for version in versions.values()} | set(summaries.values()))
    sources = [one for one in held.sources if one.message in messages or one.fact in facts]
    history = [one for one in held.history if one.message in messages or one.fact in facts]
    sessions = set(held.sessions) if whole else set(removal.sessions) & set(held.sessions)
    counts = {
        "messages": len(messages),
        "passages": len(passages),
        "attachments": sum(len(held.messages[id_][1].attachments) for id_ in messages),
        "facts": len(facts & {fact for fact, _ in versions}),
        "fact_versions": len(versions),
        "summaries": len(summaries),
        "vectors": len(numbers & set(held.vectors)),
        "fact_sources": len(sources),
        "fact_history": len(history),
        "sessions": len(sessions),
        **({"blocks": len(held.blocks), "block_versions": _versions_of_blocks(held)} if whole else {}),
    }
    _touch(held, {one.fact for one in sources})
    held.messages = {id_: one for id_, one in held.messages.items() if id_ not in messages}
    held.passages = {n: one for n, one in held.passages.items() if n not in numbers}
    held.facts = {key: one for key, one in held.facts.items() if key not in versions}
    held.summaries = {id_: one for id_, one in held.summaries.items() if id_ not in summaries}
    held.vectors = {n: one for n, one in held.vectors.items() if n not in numbers}
    held.tokens = {n: one for n, one in held.tokens.items() if n not in numbers}
    held.aside = {n: one for n, one in held.aside.items() if n not in numbers}
    held.sources = [one for one in held.sources if one not in sources]
    held.history = [one for one in held.history if one not in history]
    held.sessions = {id_: one for id_, one in held.sessions.items() if id_ not in sessions}
    held.blocks = {} if whole else held.blocks
    held.block_versions = {} if whole else held.block_versions
    held.removed |= dict.fromkeys(numbers, held.version + 1)
    _mend(held, removal)
    held.version, held.fact_version, held.epoch = held.version + 1, held.fact_version + 1, held.epoch + 1
    return counts, digest_of(messages, facts), numbers


def _versions_of_blocks(held: Partition) -> int:
    return sum(len(versions) for versions in held.block_versions.values())


def _touch(held: Partition, facts: set[FactId]) -> None:
    for key, version in held.facts.items():
        if key[0] in facts:
            held.facts[key] = replace(version, changed=held.version + 1)


def _mend(held: Partition, removal: Removal) -> None:
    stamp = held.version + 1
    for one in removal.reworded:
        version, like = held.facts[one.fact, one.version], held.facts[one.fact, one.like]
        words = replace(version.fact, text=like.fact.text, value=like.fact.value, subject=like.fact.subject)
        held.facts[one.fact, one.version] = Version(words, version.n, like.terms, stamp)
        held.vectors.pop(version.n, None)
        held.tokens.pop(version.n, None)
        held.aside.pop(version.n, None)
        _copy_vector(held, like.n, version.n)
    for key, version in held.facts.items():
        fact = version.fact
        if fact.id in removal.stripped:
            fact = replace(fact, metadata={}, expires_at=None)
        if fact.replaced_by in removal.facts:
            fact = replace(fact, replaced_by=None)
        if fact != version.fact:
            held.facts[key] = replace(version, fact=fact, changed=stamp)
    quotes = [quote.casefold() for quote in removal.quotes]
    held.history = [
        replace(one, reason="") if any(quote in one.reason.casefold() for quote in quotes) else one
        for one in held.history
    ]
    for again in removal.reopened:
        _reopen(held, again, removal)


def _copy_vector(held: Partition, like: int, to: int) -> None:
    if like in held.vectors:
        held.vectors[to], held.tokens[to] = held.vectors[like], held.tokens.get(like)
    if like in held.aside:
        held.aside[to] = held.aside[like]


def _reopen(held: Partition, again: Reopened, removal: Removal) -> None:
    stamp, like, latest = held.version + 1, held.facts[again.fact, again.like], list(held.versions_of(again.fact))[-1]
    if latest.fact.retracted_at is None:
        closed = replace(latest.fact, retracted_at=removal.at)
        held.facts[closed.id, closed.version] = replace(latest, fact=closed, changed=stamp)
    fact = replace(
        like.fact,
        version=again.version,
        importance=again.importance,
        valid_from=again.valid_from,
        valid_to=again.valid_to,
        recorded_at=removal.at,
        retracted_at=None,
        replaced_by=None if again.replaced_by in removal.facts else again.replaced_by,
    )
    held.facts[fact.id, fact.version] = Version(fact, held.next_row, like.terms, stamp)
    _copy_vector(held, like.n, held.next_row)
    held.next_row += 1
    held.history.append(
        FactChange(fact=fact.id, version=fact.version, change=again.change, at=removal.at, reason=again.reason)
    )
