"""relearn: read every message again with the extractor of today, and show or write what that changes."""

from collections.abc import Sequence
from itertools import groupby

from commonplace.domain.errors import InvalidInput
from commonplace.domain.results import Relearned
from commonplace.domain.scope import Scope
from commonplace.domain.usage import NOTHING, Usage
from commonplace.domain.values import Fact, FactChange, FactId, Message, Source
from commonplace.engine.committing import Committing
from commonplace.engine.learner import Learner, Reading
from commonplace.engine.parts import Parts
from commonplace.learning.draft import Draft
from commonplace.learning.relearn import Difference, difference, drafted_difference, is_relearning, key_of, rebuilt
from commonplace.ports.ledger import MessageQuery

PAGE = 1_000


class Relearning:
    def __init__(self, parts: Parts, learner: Learner | None, committing: Committing) -> None:
        self._parts, self._learner, self._committing = parts, learner, committing

    async def relearn(self, scope: Scope, *, apply: bool) -> Relearned:
        """Raises what the extractor raises, and then writes nothing: half of what was said is no ground to decide."""
        learner = self._learner
        if learner is None:
            raise InvalidInput("relearn: nothing learns here; it was switched off (learn=False)")
        messages = await self._messages(scope)
        readings = [await learner.read(scope, message) for message in messages if not learner.plants(message)]
        usage = sum((reading.usage for reading in readings), NOTHING)
        await self._spent(scope, usage)
        telling = [reading for reading in readings if reading.claims]
        found, anew = await self._compare(scope, learner, telling)
        if apply and (found.added or found.removed or found.changed):

            async def decide() -> Sequence[Draft]:
                nonlocal found
                found, anew = await self._compare(scope, learner, telling)
                now = self._parts.now()
                return [drafted_difference(found, now=now, sources=anew, extractor=learner.identity)]

            await self._committing.commit(scope, decide)
        return Relearned(
            extractor=learner.identity,
            messages=len(readings),
            added=found.added,
            removed=found.removed,
            changed=found.changed,
            applied=apply,
            usage=usage,
        )

    async def _messages(self, scope: Scope) -> list[Message]:
        """Return what the user has said, in the order in which it was said."""
        found: list[Message] = []
        query: MessageQuery | None = MessageQuery(limit=PAGE)
        while query is not None:
            page = await self._parts.ledger.messages(scope, query)
            found += page.messages
            query = MessageQuery(before=page.next, limit=PAGE) if page.next else None
        return [message for message in reversed(found) if message.role == "user"]

    async def _compare(
        self, scope: Scope, learner: Learner, readings: Sequence[Reading]
    ) -> tuple[Difference, dict[FactId, list[Source]]]:
        believed = await self._parts.ledger.believed(scope)
        fixed = {fact.id for fact in believed if await self._is_by_hand(scope, fact)}
        drafts = await learner.decide(scope, readings, known=[fact for fact in believed if fact.id in fixed])
        anew = [fact for fact in rebuilt(drafts) if fact.id not in fixed]
        found = difference([fact for fact in believed if fact.id not in fixed], anew)
        refused = await self._refused(scope)
        kept = tuple(fact for fact in found.added if key_of(fact) not in refused)
        sources = sorted((source for draft in drafts for source in draft.sources), key=lambda source: source.fact)
        of_fact = {fact: list(group) for fact, group in groupby(sources, key=lambda source: source.fact)}
        return Difference(added=kept, removed=found.removed, changed=found.changed), of_fact

    async def _is_by_hand(self, scope: Scope, fact: Fact) -> bool:
        """Whether somebody wrote the fact, or changed it since it was learned."""
        if not fact.extractor:
            return True
        if fact.version == 1:
            return False
        history = await self._parts.ledger.history(scope, fact.id)
        return any(change.message is None and change.change == "revised" for one in history for change in one.changes)

    async def _refused(self, scope: Scope) -> set[tuple[str, str, str]]:
        """Return what somebody has retracted by hand: it is not learned again."""
        latest = {fact.id: fact for fact in await self._parts.ledger.all_versions(scope)}
        gone = [fact for fact in latest.values() if fact.retracted_at is not None and fact.replaced_by is None]
        histories = [(fact, await self._parts.ledger.history(scope, fact.id)) for fact in gone]
        return {key_of(fact) for fact, history in histories if _was_retracted_by_hand(history[-1].changes)}

    async def _spent(self, scope: Scope, usage: Usage) -> None:
        if usage != NOTHING:
            await self._parts.ledger.count_usage(scope.tenant, self._parts.now().date(), usage)


def _was_retracted_by_hand(changes: Sequence[FactChange]) -> bool:
    """The last word on it was a retraction that no message led to, and that is not ours."""
    last = changes[-1] if changes else None
    return last is not None and last.change == "retracted" and last.message is None and not is_relearning(last)
