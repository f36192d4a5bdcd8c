"""add: what was said is indexed, read for facts, reconciled with what is known, and written in one transaction.

A message is never lost to a failure of learning: then it is written with a job that tries again. An extractor that
takes its time always works from jobs.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from commonplace.domain.claims import Proposal
from commonplace.domain.errors import Overtaken
from commonplace.domain.results import Added
from commonplace.domain.scope import Scope
from commonplace.domain.values import Message, MessageId
from commonplace.engine.committing import Committing
from commonplace.engine.indexing import Indexing
from commonplace.engine.jobs import Worker, learn_job, told
from commonplace.engine.learner import Learner, Reading
from commonplace.engine.parts import Parts
from commonplace.engine.summarising import Summarising
from commonplace.learning.draft import Draft
from commonplace.ports.jobs import Job
from commonplace.ports.ledger import Change, NewMessage

PLANTED = "planted"
"""The metadata key that marks a message which tries to plant instructions."""


@dataclass(frozen=True, slots=True)
class _Listened:
    """What is to become of the messages of one call."""

    readings: list[Reading] = field(default_factory=list)
    jobs: dict[MessageId, Job] = field(default_factory=dict)
    planted: set[MessageId] = field(default_factory=set)

    @property
    def notes(self) -> list[str]:
        return [f"{one}: tries to plant instructions; kept, and not learned from" for one in sorted(self.planted)]


class Adding:
    def __init__(
        self,
        parts: Parts,
        indexing: Indexing,
        committing: Committing,
        learner: Learner | None,
        worker: Worker,
        summarising: Summarising,
    ) -> None:
        self._parts, self._indexing, self._committing = parts, indexing, committing
        self._learner, self._worker, self._summarising = learner, worker, summarising

    async def add(self, scope: Scope, messages: Sequence[Message], *, learn: bool, wait: bool, by_id: bool) -> Added:
        """Keep the messages, and learn from those of the user that are not known yet. `by_id`: some may be."""
        ids = tuple(message.id for message in messages)
        there = await self._parts.ledger.messages_by_id(scope, ids) if by_id else {}
        fresh = [message for message in messages if message.id not in there]
        if not fresh:
            return Added(messages=ids)
        listened = await self._listen(scope, fresh, self._learner) if learn and self._learner else _Listened()
        indexed = await self._indexing.messages(_marked(fresh, listened.planted), scope=scope)
        kept = self._changes(indexed.messages, listened.jobs)
        drafts = await self._write(scope, listened.readings, kept, by_id=by_id)
        await self._summarising.said(scope, fresh)
        added = Added(
            messages=ids,
            changes=tuple(one for draft in drafts for one in draft.history),
            pending=len(listened.jobs),
            jobs=tuple(job.id for job in listened.jobs.values()),
            notes=(*listened.notes, *([indexed.note] if indexed.note else [])),
        )
        return await self._queued(added, wait=wait) if listened.jobs else added

    async def _listen(self, scope: Scope, messages: Sequence[Message], learner: Learner) -> _Listened:
        listened = _Listened()
        for place, message in enumerate(messages):
            if message.role != "user":
                continue
            if learner.plants(message):
                listened.planted.add(message.id)
            elif not learner.inline:
                listened.jobs[message.id] = learn_job(scope, message, id_=self._parts.new_id())
            else:
                try:
                    reading = await learner.read(scope, message, same_call=messages[:place])
                except Exception as error:  # noqa: BLE001 - kept in the job, which tries again
                    listened.jobs[message.id] = learn_job(scope, message, id_=self._parts.new_id(), error=told(error))
                else:
                    listened.readings.extend([reading] if reading.claims else [])
        return listened

    def _changes(self, messages: Sequence[NewMessage], jobs: dict[MessageId, Job]) -> Sequence[Change]:
        """Return what keeps the messages. With jobs, one change for each: a message that is known gives no job."""
        ttl = self._parts.options.session_ttl
        if not jobs:
            return [Change(messages=messages, session_ttl=ttl)]
        return [
            Change(messages=[new], session_ttl=ttl, jobs=[job] if (job := jobs.get(new.message.id)) else ())
            for new in messages
        ]

    async def _write(
        self, scope: Scope, readings: Sequence[Reading], kept: Sequence[Change], *, by_id: bool
    ) -> Sequence[Draft]:
        learner = self._learner
        if learner is None or not readings:
            await self._committing.keep(scope, *kept)
            return ()

        async def decide() -> Sequence[Draft]:
            ids = [reading.message.id for reading in readings] if by_id else []
            there = await self._parts.ledger.messages_by_id(scope, ids) if by_id else {}
            return await learner.decide(scope, [one for one in readings if one.message.id not in there])

        return await self._committing.commit(scope, decide, also=kept)

    async def _queued(self, added: Added, *, wait: bool) -> Added:
        if not wait:
            self._worker.wake()
            return added
        return await self.settle(added)

    async def settle(self, added: Added) -> Added:
        """Wait until the queued part is learned, or has failed for good."""
        if not added.jobs:
            return added
        outcome = await self._worker.wait(added.jobs)
        return replace(
            added,
            changes=added.changes + outcome.changes,
            pending=outcome.pending,
            jobs=added.jobs if outcome.pending else (),
            notes=added.notes + outcome.notes,
        )

    async def propose(self, scope: Scope, message: Message, proposals: Sequence[Proposal], *, by: str) -> Added:
        """Learn what somebody says that a kept message of the user states, as far as it does state it."""
        learner, added = self._learner, Added(messages=(message.id,))
        if learner is None:
            return replace(added, notes=("nothing learns here; it was switched off",))
        if message.role != "user" or learner.plants(message):
            return replace(added, notes=(f"{message.id}: nothing is learned from this message",))
        reading = await learner.judge(scope, message, proposals, by=by)
        notes = (f"{reading.usage.ungrounded} not said by the user",) if reading.usage.ungrounded else ()
        if not reading.claims:
            return replace(added, notes=notes)
        epoch = Change(epoch=await self._parts.ledger.epoch(scope))
        if message.id not in await self._parts.ledger.messages_by_id(scope, [message.id]):
            raise Overtaken(f"message {message.id!r} is gone")
        drafts = await self._committing.commit(scope, lambda: learner.decide(scope, [reading]), also=[epoch])
        return replace(added, changes=tuple(one for draft in drafts for one in draft.history), notes=notes)


def _marked(messages: Sequence[Message], planted: set[MessageId]) -> list[Message]:
    return [
        replace(message, metadata={**message.metadata, PLANTED: True}) if message.id in planted else message
        for message in messages
    ]
