"""forget: the ledger first, in one transaction that leaves a record; then caches, index and files; a look; a receipt.

Every step after the first can be taken again: a forget that was cut short is completed when the memory is next opened.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from commonplace.care.forget import Forgotten, Trail, consequences, quotes_of
from commonplace.domain.errors import Conflict, NotFound, Unavailable
from commonplace.domain.receipts import Part, Receipt
from commonplace.domain.scope import Scope
from commonplace.domain.values import FactId, Message, MessageId, SessionId
from commonplace.engine.corpora import Corpora
from commonplace.engine.embedding import Embedding
from commonplace.engine.parts import Parts
from commonplace.engine.planner import Planner
from commonplace.ports.erasure import Erased, Removal

LOG = logging.getLogger(__name__)
ATTEMPTS = 50
"""As in `committing`: so many times a plan may be overtaken by a change to the facts."""


def _no_stage(name: str) -> None:
    return None


class Forgetting:
    def __init__(
        self,
        parts: Parts,
        corpora: Corpora,
        embedding: Embedding,
        planner: Planner,
        *,
        stage: Callable[[str], None] = _no_stage,
    ) -> None:
        """`stage` is told what has been reached: begun, erased, caches, index, files, verified, concluded."""
        self._parts, self._ledger = parts, parts.ledger
        self._corpora, self._embedding, self._planner, self._stage = corpora, embedding, planner, stage

    async def forget(self, scope: Scope, what: Part, *, dry_run: bool = False) -> Receipt:
        """Forget it and return the receipt; a dry run counts and changes nothing.

        Raises NotFound for a message or fact that is not there. Raises Unavailable when the files cannot be seen to
        now: nothing of it can be found any more, and the rest is done when the memory is next opened.
        """
        self._stage("begun")
        erased = await self._erase(scope, what, dry_run=dry_run)
        if dry_run:
            return _receipt(erased)
        self._stage("erased")
        try:
            return await self._finish(erased)
        except Unavailable as error:
            raise type(error)(
                f"{error}; nothing of it can be found any more, and its traces in files are removed when the memory is "
                "next opened"
            ) from error

    async def complete(self) -> None:
        """Finish what was cut short, by whomever. What cannot be finished now is left for the next time."""
        for erased in await self._ledger.pending_erasures():
            try:
                await self._finish(erased)
            except Unavailable as error:
                LOG.warning("a forget could not be completed yet: %s", type(error).__name__)
            else:
                LOG.info("a forget that was cut short is complete")

    async def _erase(self, scope: Scope, what: Part, *, dry_run: bool) -> Erased:
        id_ = self._parts.new_id()
        for _ in range(ATTEMPTS):
            try:
                return await self._ledger.erase(scope, await self._plan(scope, what, id_), dry_run=dry_run)
            except Conflict:
                continue
        raise Conflict(f"the facts of this user changed {ATTEMPTS} times while they were read: try again")

    async def _plan(self, scope: Scope, what: Part, id_: str) -> Removal:
        now = self._parts.now()
        if what.whole:
            return Removal(id=id_, what=what, at=now)
        seen = (await self._ledger.versions(scope)).fact_version
        if what.fact is not None:
            trail = await self._trail(scope, what.fact)
            quotes = tuple(quotes_of([trail]))
            return Removal(id=id_, what=what, at=now, facts=[what.fact], quotes=quotes, facts_seen=seen)
        messages = await self._ledger.chosen(scope, what)
        if what.message is not None and not messages:
            raise NotFound("message", what.message)
        texts = await self._ledger.messages_by_id(scope, messages)
        trails = [await self._trail(scope, fact) for fact in await self._concerned(scope, what, messages)]
        forgotten = Forgotten(messages=texts, before=None if what.message or what.session else what.before)
        found = consequences(trails, forgotten, kept=await self._kept(scope, trails, texts))
        return Removal(
            id=id_,
            what=what,
            at=now,
            messages=messages,
            facts=found.facts,
            sessions=await self._sessions(scope, what),
            reworded=found.reworded,
            reopened=found.reopened,
            stripped=found.stripped,
            quotes=tuple(found.quotes),
            facts_seen=seen,
        )

    async def _trail(self, scope: Scope, fact: FactId) -> Trail:
        versions = await self._ledger.history(scope, fact)
        if not versions:
            raise NotFound("fact", fact)
        return Trail(versions, await self._ledger.sources(scope, fact))

    async def _concerned(self, scope: Scope, what: Part, messages: Sequence[MessageId]) -> Sequence[FactId]:
        """Return the facts that may change: those the messages had to do with, and those written by hand back then."""
        facts = list(await self._ledger.touched(scope, messages))
        if what.before is not None and what.session is None and what.message is None:
            versions = await self._ledger.all_versions(scope)
            facts += [one.id for one in versions if not one.sources and one.said_at < what.before]
        return list(dict.fromkeys(facts))

    async def _kept(
        self, scope: Scope, trails: Sequence[Trail], forgotten: Mapping[MessageId, Message]
    ) -> Mapping[MessageId, Message]:
        teachers = dict.fromkeys(one.message for trail in trails for one in trail.sources)
        return await self._ledger.messages_by_id(scope, [one for one in teachers if one not in forgotten])

    async def _sessions(self, scope: Scope, what: Part) -> Sequence[SessionId]:
        """Return the sessions whose state goes, too: the one that is named, or those that ended before the moment."""
        if what.message is not None:
            return ()
        if what.before is None:
            return () if what.session is None else (what.session,)
        before = await self._ledger.sessions_before(scope, what.before)
        return [one for one in before if what.session in (None, one)]

    async def _finish(self, erased: Erased) -> Receipt:
        """See to what the ledger cannot: each step may have been taken before."""
        await self._corpora.drop(erased.scope)
        self._embedding.clear()
        self._stage("caches")
        has_index = await self._planner.erase(erased.scope, erased.number)
        self._stage("index")
        await self._ledger.scrub()
        self._stage("files")
        left = await self._ledger.remains(erased)
        if left:
            raise Unavailable(f"forget {erased.id}: {left} rows are still in the ledger")
        self._stage("verified")
        verified = ("ledger", "cache", *(("index",) if has_index else ()), "files")
        receipt = await self._ledger.conclude(_receipt(erased, at=self._parts.now(), verified=verified), erased)
        self._stage("concluded")
        self._planner.written(erased.scope)
        return receipt


def _receipt(erased: Erased, *, at: datetime | None = None, verified: tuple[str, ...] = ()) -> Receipt:
    return Receipt(
        id=erased.id,
        user=erased.scope.user,
        what=erased.what,
        counts={"ledger": erased.counts},
        digest=erased.digest,
        requested_at=erased.at,
        at=at,
        verified=verified,
        notes=_notes(erased),
    )


def _notes(erased: Erased) -> tuple[str, ...]:
    if erased.what.fact is None or not erased.counts["fact_sources"]:
        return ()
    return ("the messages that said it are kept: forget them by message= to be rid of their words, too",)
