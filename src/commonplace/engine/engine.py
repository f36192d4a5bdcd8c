"""Engine: every method of the product, in the words of the specification. Each parses, calls one part, and returns."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import timedelta
from typing import Any, Self

from commonplace.domain.errors import NotFound
from commonplace.domain.inputs import (
    Told,
    parse_count,
    parse_fact_kind,
    parse_messages,
    parse_metadata,
    parse_name,
    parse_optional_name,
    parse_share,
    parse_status,
    parse_text,
    parse_ttl,
    told_once,
)
from commonplace.domain.offers import Attachable, parse_offers
from commonplace.domain.results import (
    Added,
    Checkup,
    JobInfo,
    Profile,
    Reindexed,
    Relearned,
    Stats,
)
from commonplace.domain.scope import Scope
from commonplace.domain.times import parse_expiry, parse_moment, parse_optional_moment
from commonplace.domain.values import Block, BlockVersion, Fact, Json, SessionId, SessionInfo
from commonplace.engine.absence import Absence
from commonplace.engine.adding import Adding
from commonplace.engine.attaching import Attaching
from commonplace.engine.by_hand import ByHand, Revision, Statement
from commonplace.engine.caring import Caring
from commonplace.engine.carrying import Carrying
from commonplace.engine.choosing import Choosing
from commonplace.engine.committing import Committing
from commonplace.engine.consolidating import Consolidating
from commonplace.engine.contexts import Contexts
from commonplace.engine.corpora import Corpora
from commonplace.engine.exporting import Exporting
from commonplace.engine.filing import Filing
from commonplace.engine.filling import Filling
from commonplace.engine.finding import Finding, Moment, parse_fact, parse_session
from commonplace.engine.forgetting import Forgetting
from commonplace.engine.importing import Importing
from commonplace.engine.indexing import Indexing
from commonplace.engine.jobs import Worker
from commonplace.engine.learner import Learner
from commonplace.engine.listening import Listening
from commonplace.engine.migrating import Migrating
from commonplace.engine.parts import Parts
from commonplace.engine.planner import Planner
from commonplace.engine.proposing import Proposing
from commonplace.engine.purging import Purging
from commonplace.engine.recalling import Recalling
from commonplace.engine.reindexing import Reindexing
from commonplace.engine.relearning import Relearning
from commonplace.engine.sessions import AsyncSession
from commonplace.engine.summarising import Summarising
from commonplace.engine.upkeep import Upkeep
from commonplace.engine.windows import Windows
from commonplace.ports.ledger import MessageQuery
from commonplace.recall.request import Request

Content = str | Mapping[str, Any] | Sequence[str | Mapping[str, Any]]


class Engine(Caring, Carrying, Filing, Finding, Proposing):
    """A memory, given its parts. Use it as `async with`, or call `aclose` at the end."""

    def __init__(self, parts: Parts, closing: AsyncExitStack | None = None, *, beside: "Engine | None" = None) -> None:
        """`beside` is another tenant's on the same parts: they share what is held in RAM, and one feeds the index."""
        self._parts, self._beside = parts, beside
        self._closing = closing or AsyncExitStack()
        self._choosing = choosing = Choosing(parts)
        self._planner: Planner = beside._planner if beside else Planner(parts)
        self._corpora: Corpora = beside._corpora if beside else self._new_corpora()
        corpora = self._corpora
        self._attaching = Attaching(parts)
        indexing = Indexing(choosing.of, language=parts.options.language, look=self._attaching.read)
        self._filling = Filling(parts, indexing, choosing, filled=self._planner.written)
        committing = Committing(parts, choosing, indexing, self._filling, written=self._planner.written)
        self._recalling = Recalling(parts, corpora, choosing, self._planner, settle=self._filling.settle)
        self._contexts = Contexts(parts, self._recalling.recall, self._recalling.wishes)
        self._absence = Absence(parts, corpora, self._recalling)
        learner = Learner(parts, parts.extractor, choosing, nearest=self._nearest) if parts.extractor else None
        self._summarising = Summarising(parts, indexing, committing)
        self._worker = Worker(parts, learner, committing, self._summarising)
        self._adding = Adding(parts, indexing, committing, learner, self._worker, self._summarising)
        self._relearning = Relearning(parts, learner, committing)
        self._exporting = Exporting(parts, self._filling, self._attaching)
        reindexing = Reindexing(parts, indexing)
        self._importing = Importing(
            parts, choosing, reindexing, self._adding, self._filling, self._planner, self._attaching
        )
        self._by_hand = ByHand(parts, committing)
        self._upkeep = Upkeep(parts, corpora, choosing, indexing, self._planner, self._attaching)
        self._forgetting = Forgetting(
            parts,
            corpora,
            choosing,
            self._planner,
            attaching=self._attaching,
            rebuild=self._summarising.rebuild,
        )
        self._listening = Listening(parts, corpora, choosing)
        self._purging = Purging(parts, self._forgetting)
        self._migrating = Migrating(parts, self._attaching.read, self._planner)
        self._consolidating = Consolidating(parts, committing, self._summarising, self._purging)

    async def start(self) -> None:
        """Finish what was cut short, and begin the work that goes on in the background."""
        await self._choosing.start()
        if self._beside is None:
            await self._forgetting.complete()
            await self._planner.start()
            if self._parts.replacing_vectors:
                await self._upkeep.replace_vectors()
        await self._worker.start()
        self._listening.start()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Finish what is under way and let go of files and threads. Closing twice is no error."""
        await self._listening.aclose()
        await self._worker.aclose()
        await self._filling.aclose()
        if self._beside is None:
            await self._planner.aclose()
        await self._closing.aclose()

    # Keeping

    async def add(
        self,
        content: Content,
        *,
        user: str | None = None,
        session: str | None = None,
        agent: str | None = None,
        at: Moment | None = None,
        metadata: Mapping[str, Json] | None = None,
        expires_at: Moment | None = None,
        learn: bool = True,
        wait: bool = False,
        attachments: Sequence[Attachable] | None = None,
    ) -> Added:
        """Keep what was said, and learn from it. Durable, and found by recall, when it returns.

        With a model, learning follows in the background; `wait` waits for it. `attachments` go with the one message
        that this is: a Path, bytes, or dicts with `path`, `data` or `id`, and `name`, `type`, `caption`.
        """
        scope, now = self._scope(user), self._parts.now()
        told = Told(
            session=parse_session(session),
            agent=parse_optional_name(agent, name="agent"),
            at=now if at is None else parse_moment(at, name="at"),
            metadata=parse_metadata(metadata),
            expires_at=parse_optional_moment(expires_at, name="expires_at"),
            now=now,
        )
        said = told_once(content)
        messages = parse_messages(said, told, new_id=self._parts.new_id)
        by_id = not isinstance(content, str)
        offers = parse_offers(said, attachments) if by_id or attachments is not None else ()
        if not any(offers):
            return await self._adding.add(scope, messages, learn=learn, wait=wait, by_id=by_id)
        async with self._attaching.guard(scope):
            messages = await self._attaching.carry(scope, messages, offers)
            try:
                added = await self._adding.add(scope, messages, learn=learn, wait=False, by_id=by_id)
            finally:
                await self._attaching.settle(scope, messages, offers)
        return await self._adding.settle(added) if wait else added

    async def remember(
        self,
        text: str,
        *,
        user: str | None = None,
        kind: str = "fact",
        importance: float = 0.5,
        confidence: float = 1.0,
        valid_from: Moment | None = None,
        valid_to: Moment | None = None,
        expires_at: Moment | None = None,
        metadata: Mapping[str, Json] | None = None,
    ) -> Fact:
        """Write a fact by hand. The same statement twice is one fact."""
        statement = Statement(
            text=parse_text(text, name="text"),
            kind=parse_fact_kind(kind),
            importance=parse_share(importance, name="importance"),
            confidence=parse_share(confidence, name="confidence"),
            valid_from=parse_optional_moment(valid_from, name="valid_from"),
            valid_to=parse_optional_moment(valid_to, name="valid_to"),
            expires_at=parse_optional_moment(expires_at, name="expires_at"),
            metadata=parse_metadata(metadata),
        )
        return await self._by_hand.remember(self._scope(user), statement)

    async def revise(
        self,
        fact_id: str,
        text: str | None = None,
        *,
        user: str | None = None,
        metadata: Mapping[str, Json] | None = None,
        expires_at: Moment | None = None,
        reason: str = "",
        expected: Fact | None = None,
    ) -> Fact:
        """Give a fact another wording, metadata or expiry. How it was stays in its history.

        `metadata` is laid over what it has; a key whose value is None is taken away. `expires_at` may be "never".
        With `expected`, raises Conflict if the fact is not that any more, whoever has changed it.
        """
        revision = Revision(
            text=None if text is None else parse_text(text, name="text"),
            metadata=None if metadata is None else parse_metadata(metadata),
            expires_at=parse_expiry(expires_at, name="expires_at"),
        )
        return await self._by_hand.revise(
            self._scope(user), parse_fact(fact_id), revision, reason=reason, expected=expected
        )

    async def retract(
        self, fact_id: str, *, user: str | None = None, reason: str = "", expected: Fact | None = None
    ) -> Fact:
        """Stop believing a fact. It stays in the history, and `restore` brings it back."""
        return await self._by_hand.retract(self._scope(user), parse_fact(fact_id), reason=reason, expected=expected)

    async def restore(
        self, fact_id: str, *, user: str | None = None, reason: str = "", expected: Fact | None = None
    ) -> Fact:
        """Undo a retraction."""
        return await self._by_hand.restore(self._scope(user), parse_fact(fact_id), reason=reason, expected=expected)

    # Working memory

    async def blocks(self, *, user: str | None = None) -> list[Block]:
        """Return the blocks in their order."""
        return list(await self._parts.ledger.blocks(self._scope(user)))

    async def block_history(self, name: str, *, user: str | None = None) -> list[BlockVersion]:
        """Return what a block said, oldest first, and last what it says now. To restore one, set its text again."""
        versions = await self._parts.ledger.block_history(self._scope(user), parse_name(name, name="name"))
        if not versions:
            raise NotFound("block", name)
        return list(versions)

    async def set_block(
        self,
        name: str,
        text: str,
        *,
        user: str | None = None,
        order: int | None = None,
        expected: Block | None = None,
    ) -> Block:
        """Write a block. A new one goes to the end, unless `order` says otherwise.

        With `expected`, raises Conflict if the block is not that any more, whoever has changed it.
        """
        place = -1 if order is None else parse_count(order, name="order")
        block = Block(
            name=parse_name(name, name="name"),
            text=parse_text(text, name="text"),
            order=place,
            updated_at=self._parts.now(),
        )
        return await self._parts.ledger.set_block(self._scope(user), block, expected=expected)

    async def append_block(
        self, name: str, text: str, *, user: str | None = None, expected: Block | None = None
    ) -> Block:
        """Add a line to a block."""
        return await self._parts.ledger.append_block(
            self._scope(user),
            parse_name(name, name="name"),
            parse_text(text, name="text"),
            now=self._parts.now(),
            expected=expected,
        )

    async def delete_block(self, name: str, *, user: str | None = None, expected: Block | None = None) -> None:
        """Remove a block, and what it said before."""
        named = parse_name(name, name="name")
        if not await self._parts.ledger.delete_block(self._scope(user), named, expected=expected):
            raise NotFound("block", name)

    def session(self, session: str, *, user: str | None = None, ttl: float | timedelta | None = None) -> AsyncSession:
        """Take a conversation in hand: its state and its last messages."""
        seconds = self._parts.options.session_ttl if ttl is None else parse_ttl(ttl)
        name, windows = SessionId(parse_name(session, name="session")), Windows(self._parts, self._contexts)
        return AsyncSession(self._parts, self._scope(user), name, ttl=seconds, windows=windows)

    async def sessions(self, *, user: str | None = None) -> list[SessionInfo]:
        """Return the active sessions, the latest seen first."""
        return list(await self._parts.ledger.active_sessions(self._scope(user), now=self._parts.now()))

    # Looking after it

    async def profile(self, *, user: str | None = None) -> Profile:
        """Return one user at a glance."""
        scope = self._scope(user)
        latest = await self._parts.ledger.messages(scope, MessageQuery(limit=1))
        sample = await self._recalling.facts(scope, Request(query="", limit=5), before=None)
        counts = await self._parts.ledger.counts_of(scope)
        return Profile(
            user=user,
            messages=counts.messages,
            facts=counts.facts,
            blocks=counts.blocks,
            last_seen=latest.messages[0].at if latest.messages else None,
            sessions=tuple((await self.sessions(user=user))[:5]),
            sample=sample.items,
        )

    async def stats(self) -> Stats:
        """Return counts, sizes, and what answers which user."""
        await self._filling.settle_all()
        return replace(await self._upkeep.stats(), learning=await self._worker.learning())

    async def doctor(self, *, repair: bool = False) -> Checkup:
        """Look for drift between the ledger, the caches and the index; mend it if asked."""
        await self._filling.settle_all()
        return await self._upkeep.doctor(repair=repair)

    async def reindex(self, *, embed: bool = False, users: Iterable[str | None] | None = None) -> Reindexed:
        """Build every index anew from the ledger, or these users'; with `embed`, make every vector anew too."""
        whose = None if users is None else [self._scope(user).user for user in users]
        await self._filling.settle_all()
        return await self._upkeep.reindex(embed=embed, users=whose)

    async def jobs(self, *, status: str | None = None, limit: int = 100) -> list[JobInfo]:
        """Return the messages that are still to be learned from; those that failed for good with status `dead`."""
        return await self._worker.jobs(parse_status(status), limit=parse_count(limit, name="limit", least=1))

    async def replay(self, jobs: Iterable[str] | None = None) -> int:
        """Try again what failed for good: these jobs, or all. Returns how many."""
        return await self._worker.replay(None if jobs is None else [parse_name(job, name="job") for job in jobs])

    async def work(self) -> None:
        """Learn from what waits, also in other processes' name, and tend to the memory, until it is cancelled."""
        self._worker.wake()
        await self.tend()

    async def relearn(self, *, user: str | None = None, apply: bool = False) -> Relearned:
        """Learn everything anew from what a user has said. Shows what that changes; `apply` writes it."""
        return await self._relearning.relearn(self._scope(user), apply=apply)

    def _new_corpora(self) -> Corpora:
        budget = self._parts.options.cache_bytes
        return Corpora(
            self._parts.ledger,
            budget=budget,
            make=self._planner.corpus,
            fits=self._planner.fits,
            following=self._parts.following,
            agreed=self._choosing.agreed,
        )

    async def _nearest(self, scope: Scope, text: str) -> Sequence[Fact]:
        return await self._recalling.nearest(scope, text)

    def _scope(self, user: object) -> Scope:
        return Scope(self._parts.options.tenant, parse_optional_name(user, name="user"))
