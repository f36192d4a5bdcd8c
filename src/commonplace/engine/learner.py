"""From messages to drafts of facts: extract, fetch what is known, decide, and say what is to be written."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from commonplace.domain.claims import Claim, Proposal
from commonplace.domain.scope import Scope
from commonplace.domain.usage import NOTHING, Usage
from commonplace.domain.values import Fact, FactId, Message
from commonplace.engine.choosing import Choosing
from commonplace.engine.parts import Parts
from commonplace.learning.commit import commit
from commonplace.learning.draft import Draft
from commonplace.learning.echoes import without_echoes
from commonplace.learning.grounding import ground
from commonplace.learning.meets import Alike, undecided
from commonplace.learning.reconcile import needs, reconcile, said_once, to_hear
from commonplace.learning.timeline import Heard, Hearings
from commonplace.ports.extractor import Extractor, Said
from commonplace.ports.ledger import MessageQuery

NEIGHBOURS = 4
"""Messages before one that help to understand it."""
ROOM = 40
"""Messages of one moment among which one is looked for, to find those before it."""
LAST_ROW = 1 << 31

Nearest = Callable[[Scope, str], Awaitable[Sequence[Fact]]]
"""The facts known now that have most to do with a text."""


class Reading(NamedTuple):
    """What a message claims, and what it took to find out."""

    message: Message
    claims: Sequence[Claim]
    usage: Usage = NOTHING
    by: str | None = None
    """Who read it, where that was not the extractor."""


class Learner:
    def __init__(self, parts: Parts, extractor: Extractor, choosing: Choosing, *, nearest: Nearest) -> None:
        self._parts, self._extractor, self._choosing, self._nearest = parts, extractor, choosing, nearest

    @property
    def identity(self) -> str:
        return self._extractor.identity

    @property
    def inline(self) -> bool:
        return self._extractor.inline

    def plants(self, message: Message) -> bool:
        """Whether the message tries to give standing orders through memory. Nothing is learned from it."""
        return self._parts.planted(message.text)

    async def read(self, scope: Scope, message: Message, *, same_call: Sequence[Message] | None = None) -> Reading:
        """Return what a user's message claims. Raises what the extractor raises.

        `same_call` are the messages of one call before it; None for a message that is in the ledger already.
        """
        before = await self._before(scope, message, same_call)
        known = () if self.inline else await self._nearest(scope, message.text)
        text = _own_words(message, known)
        if not text.strip():
            return Reading(message, ())
        said = message if text == message.text else replace(message, text=text)
        extraction = await self._extractor.extract(Said(message=said, before=before, known=known))
        if not extraction.proposals:
            return Reading(message, extraction.claims, extraction.usage)
        kept, dropped = ground(extraction.proposals, message, text=text)
        return Reading(message, (*extraction.claims, *kept), extraction.usage + Usage(ungrounded=dropped))

    async def judge(self, scope: Scope, message: Message, proposals: Sequence[Proposal], *, by: str) -> Reading:
        """Return what of somebody's reading of a user's message the message really says."""
        text = _own_words(message, await self._nearest(scope, message.text))
        kept, dropped = ground(proposals, message, text=text)
        return Reading(message, kept, Usage(ungrounded=dropped), by)

    async def decide(
        self, scope: Scope, readings: Sequence[Reading], *, known: Sequence[Fact] | None = None
    ) -> list[Draft]:
        """Compare the readings, in their order, with what is known. Each sees what those before it decided.

        `known` takes the place of what the ledger knows.
        """
        pairs = needs([claim for reading in readings for claim in reading.claims])
        if known is None:
            known = await self._parts.ledger.believed(scope, attributes=pairs)
        believed = {fact.id: fact for fact in known}
        drafts: list[Draft] = []
        earlier: list[Heard] = []
        for reading in readings:
            facts = _about(reading.claims, believed.values())
            heard = await self._heard(scope, facts, reading, earlier)
            draft = self._draft(reading, facts, heard, await self._alike(scope, reading.claims, facts))
            believed = _after(believed, draft)
            earlier += [Heard(source, reading.message.at) for source in draft.sources]
            drafts.append(draft)
        return drafts

    def _draft(self, reading: Reading, facts: Sequence[Fact], heard: Hearings, alike: Alike | None) -> Draft:
        decisions = reconcile(reading.claims, facts, said_at=reading.message.at, alike=alike, heard=heard)
        return commit(
            said_once(decisions, facts, message=reading.message),
            facts,
            message=reading.message,
            now=self._parts.now(),
            new_id=self._parts.new_id,
            extractor=reading.by or self._extractor.identity,
            heard=heard,
        )

    async def _alike(self, scope: Scope, claims: Sequence[Claim], facts: Sequence[Fact]) -> Alike | None:
        """Return how close claims are to facts, by their embeddings; None where the words alone decide."""
        texts = list(
            dict.fromkeys(text for claim, fact in undecided(claims, facts) for text in (claim.text, fact.text))
        )
        if not texts:
            return None
        senses, missing = await self._choosing.of(scope).embed(texts)
        if missing:
            return None
        of_text = {text: sense.vector for text, sense in zip(texts, senses, strict=True) if sense}

        def alike(claim: Claim, fact: Fact) -> float:
            left, right = of_text.get(claim.text), of_text.get(fact.text)
            return 0.0 if left is None or right is None else max(0.0, float(np.dot(left, right)))

        return alike

    async def _before(self, scope: Scope, message: Message, same_call: Sequence[Message] | None) -> Sequence[Message]:
        if same_call or message.session is None or not self._extractor.looks_back(message):
            return (same_call or ())[-NEIGHBOURS:]
        if same_call is None:
            return await self._in_session(scope, message)
        page = await self._parts.ledger.messages(scope, MessageQuery(session=message.session, limit=NEIGHBOURS))
        return tuple(reversed(page.messages))

    async def _in_session(self, scope: Scope, message: Message) -> Sequence[Message]:
        """Return the messages before one that is in the ledger, also among those of the same moment."""
        query = MessageQuery(session=message.session, before=(message.at, LAST_ROW), limit=ROOM)
        messages = list(reversed((await self._parts.ledger.messages(scope, query)).messages))
        ids = [one.id for one in messages]
        place = ids.index(message.id) if message.id in ids else 0
        return messages[max(0, place - NEIGHBOURS) : place]

    async def _heard(self, scope: Scope, facts: Sequence[Fact], reading: Reading, earlier: Sequence[Heard]) -> Hearings:
        """Return when facts were said and said to be over: by what the ledger has, and earlier in this call."""
        ledger = self._parts.ledger
        heard: dict[FactId, list[Heard]] = {}
        for fact in to_hear(reading.claims, facts, message=reading.message):
            sources = await ledger.sources(scope, fact)
            said = await ledger.messages_by_id(scope, [source.message for source in sources])
            heard[fact] = [Heard(source, said[source.message].at) for source in sources if source.message in said]
            heard[fact] += [hearing for hearing in earlier if hearing.source.fact == fact]
        return heard


def _own_words(message: Message, known: Sequence[Fact]) -> str:
    return without_echoes(message.text, [fact.text for fact in known])


def _about(claims: Sequence[Claim], facts: Iterable[Fact]) -> list[Fact]:
    pairs = set(needs(claims))
    return [fact for fact in facts if (fact.subject, fact.attribute) in pairs]


def _after(known: Mapping[FactId, Fact], draft: Draft) -> dict[FactId, Fact]:
    """Return what is known once the draft is written."""
    facts = dict(known)
    for step in draft.steps:
        if step.before is not None:
            facts.pop(step.before.id, None)
        if step.after is not None:
            facts[step.after.id] = step.after
    return facts
