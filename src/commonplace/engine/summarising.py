"""Rolling summaries: past a threshold the older part of a session is summed up, by a model or by its own sentences.

With a model that is a durable job. Without one it is done at once, after what was said is safe; what cannot be done now
is done at the next message of the session, or by `consolidate`.
"""

import contextlib
import hashlib
from collections import OrderedDict
from collections.abc import Callable, Sequence

from commonplace.domain.errors import Conflict, EmbedderMismatch, Overtaken, Unavailable
from commonplace.domain.scope import Scope
from commonplace.domain.usage import NOTHING, Usage
from commonplace.domain.values import EXTRACTIVE, Json, Message, MessageId, SessionId, Summary, SummaryId
from commonplace.engine.committing import Committing
from commonplace.engine.indexing import Indexing
from commonplace.engine.parts import Parts
from commonplace.learning.summarise import in_their_words, stretches
from commonplace.ports.jobs import Job
from commonplace.ports.ledger import Change

SUMMARISE = "summarise"
SESSIONS = 10_000
"""Sessions whose size is kept in mind."""
READ = 5_000
"""Messages of a session that are read at a time."""


def _asleep() -> None:
    return None


class Summarising:
    def __init__(self, parts: Parts, indexing: Indexing, committing: Committing) -> None:
        self._parts, self._indexing, self._committing = parts, indexing, committing
        self._after = parts.options.summarise_after
        self._uncovered: OrderedDict[tuple[Scope, SessionId], int] = OrderedDict()
        self.wake: Callable[[], None] = _asleep
        """Tells the worker that there are jobs."""

    @property
    def by_model(self) -> bool:
        return self._parts.summariser is not None

    async def said(self, scope: Scope, messages: Sequence[Message]) -> None:
        """Sum up what has grown too long by these messages, which are in the ledger already."""
        if not self._after:
            return
        grown: dict[SessionId, int] = {}
        for one in messages:
            if one.session is not None:
                grown[one.session] = grown.get(one.session, 0) + self._parts.count_tokens(one.text)
        for session, tokens in grown.items():
            if await self._size(scope, session, tokens) > self._after:
                try:
                    await self.catch_up(scope, session, after=self._after)
                except (Conflict, Unavailable):
                    # Somebody else does it, or nobody can just now: the next message brings it up again.
                    self._uncovered.pop((scope, session), None)

    async def catch_up(self, scope: Scope, session: SessionId, *, after: int) -> int:
        """Sum up, or queue, all but the last `after` tokens of what no summary covers. Returns how many stretches."""
        messages = await self._parts.ledger.uncovered(scope, session, limit=READ)
        found = self._stretches(messages, after=after)
        started = sum([await self.start(scope, [one.id for one in stretch]) for stretch in found])
        taken = sum(map(len, found))
        self._keep(scope, session, sum(self._parts.count_tokens(one.text) for one in messages[taken:]))
        return started

    async def waiting(self, scope: Scope, session: SessionId) -> int:
        """Return how many stretches `catch_up` would sum up, or queue, of a session that is over."""
        messages = await self._parts.ledger.uncovered(scope, session, limit=READ)
        jobs = [_name(scope, stretch[0].id) for stretch in self._stretches(messages, after=0)]
        return len(jobs) - len(await self._parts.ledger.jobs_by_id(jobs))

    def _stretches(self, messages: Sequence[Message], *, after: int) -> list[Sequence[Message]]:
        return stretches(messages, after=after, piece=max(1, self._after / 2), count=self._parts.count_tokens)

    async def start(self, scope: Scope, messages: Sequence[MessageId]) -> bool:
        """Sum up one stretch: now, or as a job where a model does it. False if that job is queued already."""
        if not self.by_model:
            await self._sum_up(scope, messages, epoch=await self._parts.ledger.epoch(scope))
            return True
        payload: Json = {"messages": list(messages)}
        job = Job(
            id=_name(scope, messages[0]),
            scope=scope,
            kind=SUMMARISE,
            payload=payload,
            epoch=0,
            run_at=self._parts.now(),
        )
        if await self._parts.ledger.jobs_by_id([job.id]):
            return False
        await self._parts.ledger.write(scope, Change(jobs=[job]))
        self.wake()
        return True

    async def work(self, job: Job) -> Usage:
        """Do a job that a model is needed for; what is covered meanwhile, or forgotten, is left out."""
        payload = job.payload
        assert isinstance(payload, dict)
        ids = payload["messages"]
        assert isinstance(ids, list)
        return await self._sum_up(job.scope, [MessageId(str(one)) for one in ids], epoch=job.epoch, job=job.id)

    async def rebuild(self, scope: Scope, broken: Sequence[Summary]) -> None:
        """Sum up anew what is left of stretches that have lost messages."""
        for summary in broken:
            left = await self._parts.ledger.messages_by_id(scope, summary.messages)
            if left:
                # Whose vectors are of another model is summed up once they are made anew: a forget never waits.
                with contextlib.suppress(EmbedderMismatch):
                    await self.start(scope, list(left))

    async def _sum_up(
        self, scope: Scope, messages: Sequence[MessageId], *, epoch: int, job: str | None = None
    ) -> Usage:
        ledger = self._parts.ledger
        covered = {id_ for one in await ledger.covering(scope, messages) for id_ in one.messages}
        held = await ledger.messages_by_id(scope, [id_ for id_ in messages if id_ not in covered])
        said = [held[id_] for id_ in messages if id_ in held]
        done = [] if job is None else [job]
        if not said or said[0].session is None:
            await ledger.write(scope, Change(finished_jobs=done, epoch=epoch))
            return NOTHING
        text, author, usage = await self._text(said)
        expiries = [one.expires_at for one in said if one.expires_at is not None]
        summary = Summary(
            id=SummaryId(self._parts.new_id()),
            session=said[0].session,
            text=text,
            messages=tuple(one.id for one in said),
            since=min(one.at for one in said),
            until=max(one.at for one in said),
            made_at=self._parts.now(),
            author=author,
            expires_at=min(expiries, default=None),
        )
        change = Change(summaries=[await self._indexing.summary(summary, scope=scope)], finished_jobs=done, epoch=epoch)
        try:
            await self._committing.keep(scope, change)
        except Overtaken:
            raise
        except Conflict as error:
            raise Overtaken("another summary covers this by now") from error
        return usage

    async def _text(self, said: Sequence[Message]) -> tuple[str, str, Usage]:
        summariser, options = self._parts.summariser, self._parts.options
        if summariser is None:
            return (
                in_their_words(said, tokens=options.summary_tokens, count=self._parts.count_tokens),
                EXTRACTIVE,
                NOTHING,
            )
        made = await summariser.summarise(said)
        return made.text, summariser.identity, made.usage

    async def _size(self, scope: Scope, session: SessionId, grown: int) -> int:
        """Return about how many tokens of a session no summary covers; at the first time, as the ledger has it."""
        known = self._uncovered.get((scope, session))
        if known is None:
            (held,) = await self._parts.ledger.unsummarised(scope, session) or (None,)
            known, grown = (0, 0) if held is None else (held.characters // 2, 0)
            if known > self._after:  # rather too many than too few: look closely
                known = self._after + 1
        self._keep(scope, session, known + grown)
        return known + grown

    def _keep(self, scope: Scope, session: SessionId, tokens: int) -> None:
        self._uncovered[scope, session] = tokens
        self._uncovered.move_to_end((scope, session))
        while len(self._uncovered) > SESSIONS:
            self._uncovered.popitem(last=False)


def _name(scope: Scope, first: MessageId) -> str:
    """Return an id for the job, so that the same stretch is not queued twice."""
    owner = f"{scope.tenant}\0{scope.user}\0{first}".encode("utf-8", "surrogatepass")
    return f"summarise-{hashlib.sha256(owner).hexdigest()[:32]}"
