"""What a forget takes away, and what becomes of the facts: read and decided here, and nothing written."""

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import replace

from commonplace.care.forget import Forgotten, Trail, consequences, quotes_of
from commonplace.domain.errors import NotFound
from commonplace.domain.progress import Progress, unseen
from commonplace.domain.receipts import Part
from commonplace.domain.scope import Scope
from commonplace.domain.values import FactId, Message, MessageId, SessionId
from commonplace.engine.parts import Parts
from commonplace.ports.erasure import Removal

SHOWN = 100
"""Facts that are read between two reports of progress."""


class Removing:
    def __init__(self, parts: Parts) -> None:
        self._parts, self._ledger = parts, parts.ledger

    async def plan(self, scope: Scope, what: Part, id_: str, *, progress: Progress = unseen) -> Removal:
        """Return what goes. Raises NotFound for a message or fact that is not there."""
        plain = Removal(id=id_, what=what, at=self._parts.now())
        if what.whole:
            return plain
        seen = (await self._ledger.versions(scope)).fact_version
        if what.fact is not None:
            trail = await self._trail(scope, what.fact)
            return replace(plain, facts=[what.fact], quotes=tuple(quotes_of([trail])), facts_seen=seen)
        messages = await self._ledger.chosen(scope, what)
        if what.message is not None and not messages:
            raise NotFound("message", what.message)
        texts = await self._ledger.messages_by_id(scope, messages)
        due = list(await self._ledger.due_facts(scope, what.due)) if what.due is not None else []
        concerned = [one for one in await self._concerned(scope, what, messages) if one not in due]
        trails = await self._trails(scope, concerned, progress)
        forgotten = Forgotten(messages=texts, before=None if what.message or what.session else what.before)
        found = consequences(trails, forgotten, kept=await self._kept(scope, trails, texts))
        return replace(
            plain,
            messages=messages,
            facts=[*due, *found.facts],
            sessions=await self._sessions(scope, what),
            reworded=found.reworded,
            reopened=found.reopened,
            stripped=found.stripped,
            quotes=tuple(found.quotes | quotes_of(await self._trails(scope, due, progress))),
            facts_seen=seen,
        )

    async def _trails(self, scope: Scope, facts: Sequence[FactId], progress: Progress) -> Sequence[Trail]:
        trails: list[Trail] = []
        for fact in facts:
            # One that is gone was forgotten meanwhile: then the ledger refuses this plan, and another is made.
            with contextlib.suppress(NotFound):
                trails.append(await self._trail(scope, fact))
            if len(trails) % SHOWN == 0:
                progress("Reading what it taught", len(trails), len(facts))
        return trails

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
        if what.due is not None:
            moment = what.due.said_before.get("message")
            return () if moment is None else await self._ledger.sessions_before(scope, moment)
        if what.before is None:
            return () if what.session is None else (what.session,)
        before = await self._ledger.sessions_before(scope, what.before)
        return [one for one in before if what.session in (None, one)]
