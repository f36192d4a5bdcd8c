"""From messages to drafts of facts: extract, fetch what is known, decide, and say what is to be written."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from commonplace.domain.claims import Claim
from commonplace.domain.scope import Scope
from commonplace.domain.values import Fact, FactId, Message
from commonplace.engine.parts import Parts
from commonplace.learning.commit import commit
from commonplace.learning.draft import Draft
from commonplace.learning.reconcile import needs, reconcile, to_hear
from commonplace.learning.timeline import Heard, Hearings
from commonplace.ports.extractor import Extractor, Said
from commonplace.ports.ledger import MessageQuery

NEIGHBOURS = 4
"""Messages before one that help to understand it."""


class Reading(NamedTuple):
    """What a message claims."""

    message: Message
    claims: Sequence[Claim]


class Learner:
    def __init__(self, parts: Parts, extractor: Extractor) -> None:
        self._parts, self._extractor = parts, extractor

    async def read(self, scope: Scope, messages: Sequence[Message]) -> list[Reading]:
        """Return the messages that claim something, with what they claim."""
        readings = []
        for place, message in enumerate(messages):
            if message.role == "user":
                before = await self._before(scope, message, messages[:place])
                claims = await self._extractor.extract(Said(message=message, before=before))
                readings.append(Reading(message, claims))
        return [reading for reading in readings if reading.claims]

    async def decide(self, scope: Scope, readings: Sequence[Reading]) -> list[Draft]:
        """Compare the readings, in their order, with what is known. Each sees what those before it decided."""
        pairs = needs([claim for reading in readings for claim in reading.claims])
        known = {fact.id: fact for fact in await self._parts.ledger.believed(scope, attributes=pairs)}
        drafts: list[Draft] = []
        for reading in readings:
            facts = list(known.values())
            heard = await self._heard(scope, facts, reading)
            draft = self._draft(reading, facts, heard)
            known = _after(known, draft)
            drafts.append(draft)
        return drafts

    def _draft(self, reading: Reading, facts: Sequence[Fact], heard: Hearings) -> Draft:
        decisions = reconcile(reading.claims, facts, said_at=reading.message.at, heard=heard)
        return commit(
            decisions,
            facts,
            message=reading.message,
            now=self._parts.now(),
            new_id=self._parts.new_id,
            extractor=self._extractor.identity,
            heard=heard,
        )

    async def _before(self, scope: Scope, message: Message, same_call: Sequence[Message]) -> Sequence[Message]:
        if same_call or message.session is None or not self._extractor.looks_back(message):
            return same_call[-NEIGHBOURS:]
        page = await self._parts.ledger.messages(scope, MessageQuery(session=message.session, limit=NEIGHBOURS))
        return tuple(reversed(page.messages))

    async def _heard(self, scope: Scope, facts: Sequence[Fact], reading: Reading) -> Hearings:
        ledger = self._parts.ledger
        heard: dict[FactId, list[Heard]] = {}
        for fact in to_hear(reading.claims, facts, message=reading.message):
            sources = [source for source in await ledger.sources(scope, fact) if source.role == "said"]
            said = await ledger.messages_by_id(scope, [source.message for source in sources])
            heard[fact] = [Heard(source, said[source.message].at) for source in sources if source.message in said]
        return heard


def _after(known: Mapping[FactId, Fact], draft: Draft) -> dict[FactId, Fact]:
    """Return what is known once the draft is written."""
    facts = dict(known)
    for step in draft.steps:
        if step.before is not None:
            facts.pop(step.before.id, None)
        if step.after is not None:
            facts[step.after.id] = step.after
    return facts
