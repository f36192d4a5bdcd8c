"""add: what was said is indexed, read for facts, reconciled with what is known, and written in one transaction."""

from collections.abc import Sequence

from commonplace.domain.results import Added
from commonplace.domain.scope import Scope
from commonplace.domain.values import Message
from commonplace.engine.committing import Committing
from commonplace.engine.indexing import Indexing
from commonplace.engine.learner import Learner
from commonplace.engine.parts import Parts
from commonplace.ports.ledger import Change


class Adding:
    def __init__(self, parts: Parts, indexing: Indexing, committing: Committing) -> None:
        self._parts, self._indexing, self._committing = parts, indexing, committing
        self._learner = Learner(parts, parts.extractor) if parts.extractor else None

    async def add(self, scope: Scope, messages: Sequence[Message], *, learn: bool, may_be_known: bool) -> Added:
        """Keep the messages, and learn from those of the user that are not known yet."""
        ids = tuple(message.id for message in messages)
        there = await self._parts.ledger.messages_by_id(scope, ids) if may_be_known else {}
        fresh = [message for message in messages if message.id not in there]
        if not fresh:
            return Added(messages=ids)
        learner = self._learner if learn else None
        readings = await learner.read(scope, fresh) if learner else []
        claimed = [claim.text for reading in readings for claim in reading.claims]
        indexed = await self._indexing.messages(fresh, also=claimed)
        notes = (indexed.note,) if indexed.note else ()
        kept = Change(messages=indexed.messages, session_ttl=self._parts.options.session_ttl)
        if learner is None or not readings:
            await self._committing.keep(scope, kept)
            return Added(messages=ids, notes=notes)
        drafts = await self._committing.commit(scope, lambda: learner.decide(scope, readings), also=kept)
        return Added(messages=ids, changes=tuple(one for draft in drafts for one in draft.history), notes=notes)
