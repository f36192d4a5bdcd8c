"""Memory, for code that has no event loop: each method is AsyncMemory's, run on the loop in the background."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from os import PathLike
from typing import Any, Self

from commonplace.domain.claims import Proposal
from commonplace.domain.errors import Closed
from commonplace.domain.offers import Attachable
from commonplace.domain.progress import Progress, unseen
from commonplace.domain.results import (
    Added,
    Context,
    Page,
    Profile,
    Recollection,
    WhyNot,
)
from commonplace.domain.snapshots import Restored
from commonplace.domain.values import Block, BlockVersion, Fact, FactVersion, Json, Message, SessionInfo
from commonplace.engine.engine import Content
from commonplace.engine.finding import Moment
from commonplace.engine.snapshotting import LATEST
from commonplace.memory import AsyncMemory, Opening
from commonplace.ports.embedder import Vectors
from commonplace.sync.caring import Caring
from commonplace.sync.carrying import Carrying
from commonplace.sync.filing import Filing
from commonplace.sync.loop import Loop
from commonplace.sync.session import Session
from commonplace.sync.upkeep import Upkeep
from commonplace.wiring import Embed, Embeds


async def _awaited(opening: Opening) -> AsyncMemory:
    return await opening


async def _tidied_up() -> None:
    """Wait for work that was cancelled to clean up after itself."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    await asyncio.gather(*others, return_exceptions=True)


class Memory(Caring, Carrying, Filing, Upkeep):
    """Long-term memory, for code without an event loop. Safe to share between threads."""

    def __init__(self, opening: Opening) -> None:
        self._loop = Loop()
        try:
            self._memory = self._loop.call(_awaited(opening))
        except BaseException:
            self._loop.stop()
            raise
        self._loop.serve(self, self._memory.aclose)

    @classmethod
    def open(
        cls,
        location: str | PathLike[str] | None = None,
        *,
        tenant: str | None = None,
        embedder: Embed | None = None,
        embedders: Embeds | None = None,
        model: str | None = None,
        **settings: object,
    ) -> Self:
        """Open a folder, `sqlite:///…` or `postgresql://…`, with any setting by name. Close it, or use it as `with`."""
        return cls(
            AsyncMemory.open(location, tenant=tenant, embedder=embedder, embedders=embedders, model=model, **settings)
        )

    @classmethod
    def ephemeral(
        cls,
        *,
        tenant: str | None = None,
        embedder: Embed | None = None,
        embedders: Embeds | None = None,
        model: str | None = None,
        **settings: object,
    ) -> Self:
        """A memory that is kept in this process only."""
        return cls(
            AsyncMemory.ephemeral(tenant=tenant, embedder=embedder, embedders=embedders, model=model, **settings)
        )

    @classmethod
    def restore_snapshot(
        cls,
        source: str | PathLike[str],
        into: str | PathLike[str],
        *,
        name: str = LATEST,
        progress: Progress = unseen,
        **settings: object,
    ) -> Restored:
        """Bring a snapshot back, from the place where it is kept into a new folder or an empty database.

        What was forgotten since it was made is forgotten again before anybody can read it.
        """
        loop = Loop()
        try:
            return loop.call(AsyncMemory.restore_snapshot(source, into, name=name, progress=progress, **settings))
        finally:
            loop.call(_tidied_up())
            loop.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Finish what is under way and let go of files and threads. Closing twice is no error."""
        try:
            self._loop.call(self._memory.aclose())
        except Closed:
            return
        self._loop.stop()

    def add(
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

        `attachments` are a Path, bytes, or dicts with `path`, `data` or `id`, and `name`, `type`, `caption`.
        """
        return self._loop.call(
            self._memory.add(
                content,
                user=user,
                session=session,
                agent=agent,
                at=at,
                metadata=metadata,
                expires_at=expires_at,
                learn=learn,
                wait=wait,
                attachments=attachments,
            )
        )

    def settle(self, added: Added) -> Added:
        """Wait until what `add` left in the queue is learned, or has failed for good. Returns what came of it."""
        return self._loop.call(self._memory.settle(added))

    def propose(
        self, message_id: str, proposals: Sequence[Proposal], *, user: str | None = None, by: str = "agent"
    ) -> Added:
        """Learn what `by` says that a message of the user states. What the message does not say is dropped."""
        return self._loop.call(self._memory.propose(message_id, proposals, user=user, by=by))

    def remember(
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
        return self._loop.call(
            self._memory.remember(
                text,
                user=user,
                kind=kind,
                importance=importance,
                confidence=confidence,
                valid_from=valid_from,
                valid_to=valid_to,
                expires_at=expires_at,
                metadata=metadata,
            )
        )

    def revise(
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
        """Give a fact another wording, metadata or expiry. How it was stays in its history."""
        return self._loop.call(
            self._memory.revise(
                fact_id, text, user=user, metadata=metadata, expires_at=expires_at, reason=reason, expected=expected
            )
        )

    def retract(self, fact_id: str, *, user: str | None = None, reason: str = "", expected: Fact | None = None) -> Fact:
        """Stop believing a fact. It stays in the history, and `restore` brings it back."""
        return self._loop.call(self._memory.retract(fact_id, user=user, reason=reason, expected=expected))

    def restore(self, fact_id: str, *, user: str | None = None, reason: str = "", expected: Fact | None = None) -> Fact:
        """Undo a retraction."""
        return self._loop.call(self._memory.restore(fact_id, user=user, reason=reason, expected=expected))

    def recall(
        self,
        query: str,
        *,
        user: str | None = None,
        limit: int = 10,
        kinds: Iterable[str] | str | None = None,
        session: str | None = None,
        agent: str | None = None,
        during: tuple[Moment | None, Moment | None] | None = None,
        valid_at: Moment | None = None,
        as_of: Moment | None = None,
        where: Mapping[str, Any] | None = None,
        min_relevance: float | None = None,
        explain: bool = False,
    ) -> Recollection:
        """Find what matters for a query, the best first; for an empty query, the latest. Nothing relevant: nothing."""
        return self._loop.call(
            self._memory.recall(
                query,
                user=user,
                limit=limit,
                kinds=kinds,
                session=session,
                agent=agent,
                during=during,
                valid_at=valid_at,
                as_of=as_of,
                where=where,
                min_relevance=min_relevance,
                explain=explain,
            )
        )

    def why_not(
        self,
        item_id: str,
        query: str,
        *,
        user: str | None = None,
        limit: int = 10,
        kinds: Iterable[str] | str | None = None,
        session: str | None = None,
        agent: str | None = None,
        during: tuple[Moment | None, Moment | None] | None = None,
        valid_at: Moment | None = None,
        as_of: Moment | None = None,
        where: Mapping[str, Any] | None = None,
        min_relevance: float | None = None,
    ) -> WhyNot:
        """Say why a message or fact is not among the results of the same `recall`: what kept it out, with its numbers.

        An id that is somebody else's is as unknown as one that nobody has.
        """
        return self._loop.call(
            self._memory.why_not(
                item_id,
                query,
                user=user,
                limit=limit,
                kinds=kinds,
                session=session,
                agent=agent,
                during=during,
                valid_at=valid_at,
                as_of=as_of,
                where=where,
                min_relevance=min_relevance,
            )
        )

    def embed(self, texts: Sequence[str], *, user: str | None = None) -> Vectors:
        """Return what the embedding model makes of texts: one row of length 1 each. Raises EmbedderUnavailable."""
        return self._loop.call(self._memory.embed(texts, user=user))

    def context(self, query: str, *, user: str | None = None, session: str | None = None, budget: int = 800) -> Context:
        """Recall, packed into `budget` tokens and fenced as data, ready to put in a prompt. Blocks come first."""
        return self._loop.call(self._memory.context(query, user=user, session=session, budget=budget))

    def facts(
        self,
        *,
        user: str | None = None,
        valid_at: Moment | None = None,
        as_of: Moment | None = None,
        kinds: Iterable[str] | str | None = None,
        where: Mapping[str, Any] | None = None,
        limit: int = 100,
        cursor: str | None = None,
    ) -> Page[Fact]:
        """Return the facts that hold, the latest first; at another moment with `valid_at` and `as_of`."""
        return self._loop.call(
            self._memory.facts(
                user=user, valid_at=valid_at, as_of=as_of, kinds=kinds, where=where, limit=limit, cursor=cursor
            )
        )

    def history(self, fact_id: str, *, user: str | None = None) -> list[FactVersion]:
        """Return every version of a fact, oldest first, each with the messages that led to it."""
        return self._loop.call(self._memory.history(fact_id, user=user))

    def messages(
        self, *, session: str | None = None, user: str | None = None, limit: int = 20, cursor: str | None = None
    ) -> Page[Message]:
        """Return the last messages, oldest first; `next_cursor` leads to those before them."""
        return self._loop.call(self._memory.messages(session=session, user=user, limit=limit, cursor=cursor))

    def message(self, message_id: str, *, user: str | None = None) -> Message:
        """Return one message, word for word. Raises NotFound, also when it is somebody else's."""
        return self._loop.call(self._memory.message(message_id, user=user))

    def blocks(self, *, user: str | None = None) -> list[Block]:
        """Return the blocks in their order."""
        return self._loop.call(self._memory.blocks(user=user))

    def block_history(self, name: str, *, user: str | None = None) -> list[BlockVersion]:
        """Return what a block said, oldest first, and last what it says now. To restore one, set its text again."""
        return self._loop.call(self._memory.block_history(name, user=user))

    def set_block(
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
        return self._loop.call(self._memory.set_block(name, text, user=user, order=order, expected=expected))

    def append_block(self, name: str, text: str, *, user: str | None = None, expected: Block | None = None) -> Block:
        """Add a line to a block."""
        return self._loop.call(self._memory.append_block(name, text, user=user, expected=expected))

    def delete_block(self, name: str, *, user: str | None = None, expected: Block | None = None) -> None:
        """Remove a block, and what it said before."""
        self._loop.call(self._memory.delete_block(name, user=user, expected=expected))

    def session(self, session: str, *, user: str | None = None, ttl: float | timedelta | None = None) -> "Session":
        """Take a conversation in hand: its state and its last messages."""
        return Session(self._loop, self._memory.session(session, user=user, ttl=ttl))

    def sessions(self, *, user: str | None = None) -> list[SessionInfo]:
        """Return the active sessions, the latest seen first."""
        return self._loop.call(self._memory.sessions(user=user))

    def profile(self, *, user: str | None = None) -> Profile:
        """Return one user at a glance."""
        return self._loop.call(self._memory.profile(user=user))
