"""Changing the embedding model while everything goes on: build beside, compare, switch, go back, clear away.

Each step can be taken again: a migration that was cut short goes on where it stopped when it is asked for again.
Questions are answered by the old model until the switch, by the new one after it, in every process.
"""

import random
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager

import numpy as np

from commonplace.care.overlap import Nearest, agree, overlaps
from commonplace.domain.embeddings import Embeddings, Migrated, VectorsAside
from commonplace.domain.errors import Conflict, EmbedderMismatch, InvalidInput, Overtaken
from commonplace.domain.progress import Progress, unseen
from commonplace.domain.scope import Scope
from commonplace.engine.embedding import Embedding, Sense
from commonplace.engine.following import Following
from commonplace.engine.indexing import Indexing, Look
from commonplace.engine.parts import Parts
from commonplace.engine.planner import Planner
from commonplace.ports.embedder import Embedder
from commonplace.ports.feed import Feed, Vector, Versions
from commonplace.ports.models import Model, Models
from commonplace.recall.late import packed
from commonplace.recall.projector import numbers_of

BATCH = 256
"""Rows embedded and written at a time: what a kill can cost."""
SAMPLE = 100
"""Rows whose nearest are compared."""
SCANNED = 1_024
CLEARED = 2_000
"""Vectors removed in one transaction, so that nobody who writes waits for long."""
GIVES_WAY = 5
"""A switch gives way to writes so many times; then they wait until what was written before has its vectors."""
ATTEMPTS = 20
HELD = 5.0
"""Seconds that writes wait at the most, each time."""
LEAST_OVERLAP = 0.2
"""Two models that agree on less are taken for a mistake: chance gives about 10 in as many rows as a user has."""


def _no_stage(name: str) -> None:
    return None


class Migrating:
    def __init__(self, parts: Parts, look: Look, planner: Planner, *, stage: Callable[[str], None] = _no_stage) -> None:
        """`look` reads images. `stage` is told what has been reached.

        That is: begun, batch, built, verified, switched, filled, cleared.
        """
        self._parts, self._look, self._planner, self._stage = parts, look, planner, stage
        self._ledger = parts.ledger

    async def embeddings(self) -> Embeddings:
        following, models = self._able()
        await following.follow()
        record = await models.models()
        aside = record.aside
        return Embeddings(
            model=following.identity,
            name=following.model.name,
            dimensions=following.dimensions,
            generation=record.generation,
            aside=None
            if aside is None
            else VectorsAside(model=aside.model.identity, name=aside.model.name, state=aside.state, rows=aside.rows),
        )

    async def migrate(
        self, to: object, *, switch: bool = True, least: float = LEAST_OVERLAP, progress: Progress = unseen
    ) -> Migrated:
        """Make the vectors of another model, compare, and switch to them."""
        following, _ = self._able()
        await following.follow()
        target = await following.opened(to)
        model = Model(identity=target.identity, name=to if isinstance(to, str) else None, dimensions=target.dimensions)
        return await self._change(target, model, switch=switch, least=least, progress=progress)

    async def roll_back(self, *, progress: Progress = unseen) -> Migrated:
        """Go back to the model before. What was written since is embedded by it first."""
        following, models = self._able()
        await following.follow()
        aside = (await models.models()).aside
        if aside is None or aside.state != "kept":
            raise Conflict("there are no vectors of an earlier model to go back to")
        target = await following.known(aside.model)
        return await self._change(target, aside.model, switch=True, least=None, progress=progress)

    async def discard(self, *, progress: Progress = unseen) -> int:
        """Remove the vectors that are not in use: those being made, or those of the model before. Returns how many."""
        _, models = self._able()
        aside = (await models.models()).aside
        total = 0 if aside is None else aside.rows
        left = total
        while aside is not None and (left or not total):
            left = await models.discard_aside(limit=CLEARED)
            self._stage("cleared")
            progress("Removing vectors", total - left, total)
            if not left:
                break
        await self._planner.drop_outlived(list(await models.everyone()))
        return total

    async def _change(
        self, target: Embedder, model: Model, *, switch: bool, least: float | None, progress: Progress
    ) -> Migrated:
        following, models = self._able()
        before = following.model
        if model.identity == before.identity:
            embedded = await self._fill(target, progress, aside=False, seen={})
            return await self._done(before, model, embedded=embedded, shares=None, switched=False)
        await models.begin_aside(model, current=before)
        self._stage("begun")
        seen: dict[Scope, int] = {}
        embedded = await self._fill(target, progress, aside=True, seen=seen)
        self._stage("built")
        shares = None if least is None else await self._compare(target, progress)
        if shares and least is not None and _mean(shares) < least:
            raise EmbedderMismatch(
                f"{before.identity!r} and {model.identity!r} agree on {_mean(shares):.0%} of the nearest, and "
                f"{least:.0%} was expected: nothing was switched. A lower least_overlap switches all the same; "
                "`commonplace migrate-embeddings --discard` removes the new vectors"
            )
        self._stage("verified")
        if switch:
            embedded += await self._switch(target, model, seen, progress)
        return await self._done(before, model, embedded=embedded, shares=shares, switched=switch)

    async def _switch(self, target: Embedder, model: Model, seen: dict[Scope, int], progress: Progress) -> int:
        following, models = self._able()
        embedded = 0
        for attempt in range(ATTEMPTS):
            async with self._holding(attempt >= GIVES_WAY):
                embedded += await self._fill(target, progress, aside=True, seen=seen)
                try:
                    await models.switch_vectors(to=model.identity, seen=seen)
                except Overtaken:
                    continue
                break
        else:
            raise Conflict("something was written each time before the switch: nothing was switched, ask for it again")
        self._stage("switched")
        await following.follow()
        # Rows whose vectors had been made by the model before when they were written after the switch have none.
        embedded += await self._fill(target, progress, aside=False, seen={})
        self._stage("filled")
        for scope in await models.everyone():
            self._planner.written(scope)
        return embedded

    @asynccontextmanager
    async def _holding(self, held: bool) -> AsyncIterator[None]:
        """Let those who write wait meanwhile, if they are to be held."""
        _, models = self._able()
        if not held:
            yield
            return
        await models.hold_writes(HELD)
        try:
            yield
        finally:
            await models.hold_writes(0)

    async def _done(
        self, before: Model, after: Model, *, embedded: int, shares: Sequence[float] | None, switched: bool
    ) -> Migrated:
        _, models = self._able()
        rows = [versions.rows for versions in (await self._taking_part()).values()]
        return Migrated(
            before=before.identity,
            after=after.identity if switched else before.identity,
            rows=sum(rows),
            embedded=embedded,
            sampled=len(shares or ()),
            overlap=_mean(shares) if shares else None,
            switched=switched,
            left_alone=len(await models.everyone()) - len(rows),
        )

    async def _taking_part(self) -> Mapping[Scope, Versions]:
        """Return everybody but those who have a model of their own."""
        _, models = self._able()
        return {scope: versions for scope, versions in (await models.everyone()).items() if versions.model is None}

    async def _fill(self, target: Embedder, progress: Progress, *, aside: bool, seen: dict[Scope, int]) -> int:
        """Make every vector that is lacking. Returns how many.

        `seen` is told the version of each user at which nothing was lacking; who has not changed since is passed over.
        """
        _, models = self._able()
        reading, made = self._reading(target), 0
        everyone = await self._taking_part()
        total, record = sum(versions.rows for versions in everyone.values()), await models.models()
        there = record.aside.rows if record.aside is not None and aside else 0
        for scope, versions in everyone.items():
            if seen.get(scope) == versions.version:
                continue
            async for feed in self._lacking(scope, aside=aside):
                made += await self._embed(scope, feed, reading, aside=aside)
                self._stage("batch")
                progress("Embedding", min(there + made, total), total)
            seen[scope] = versions.version
        return made

    async def _lacking(self, scope: Scope, *, aside: bool) -> AsyncIterator[Feed]:
        _, models = self._able()
        after = 0
        while numbers := numbers_of(feed := await models.lacking(scope, after=after, limit=BATCH, aside=aside)):
            yield feed
            if len(numbers) < BATCH:  # what is written from now on is for the next time, or there would be no end
                return
            after = max(numbers)

    def _reading(self, target: Embedder) -> Indexing:
        language = self._parts.options.language
        embedding = Embedding(target, language=language)
        return Indexing(lambda _: embedding, language=language, look=self._look)

    async def _embed(self, scope: Scope, feed: Feed, reading: Indexing, *, aside: bool) -> int:
        numbers = numbers_of(feed)
        images = await reading.images_of(self._ledger, scope, feed, numbers)
        seen = {n: await reading.picture(scope, image) for n, image in images.items()}
        made = {n: sense for n, sense in seen.items() if sense is not None}
        texts = await reading.texts_of(self._ledger, scope, feed, numbers.difference(made))
        if texts:
            made |= zip(texts, await reading.senses(list(texts.values()), scope=scope), strict=True)
        if made:
            await self._write(scope, made, aside=aside)
        return len(made)

    async def _write(self, scope: Scope, senses: Mapping[int, Sense], *, aside: bool) -> None:
        _, models = self._able()
        model = next(iter(senses.values())).model or ""
        vectors = {n: sense.vector for n, sense in senses.items()}
        tokens = {n: packed(sense.tokens) for n, sense in senses.items() if sense.tokens}
        if aside:
            await models.set_aside(scope, vectors, model=model, tokens=tokens)
        else:
            await self._ledger.set_vectors(scope, vectors, model=model, tokens=tokens)

    async def _compare(self, target: Embedder, progress: Progress) -> Sequence[float]:
        """Return the overlap of each row of a sample. Raises EmbedderMismatch if the vectors are not the target's."""
        _, models = self._able()
        everyone = list(await self._taking_part())
        chance = random.Random(target.identity)  # noqa: S311 - a sample, the same one when it is asked for again
        chosen = chance.sample(everyone, min(len(everyone), SAMPLE))
        shares: list[float] = []
        for number, scope in enumerate(chosen):
            progress("Comparing", number, len(chosen))
            numbers = await self._sampled(scope, -(-SAMPLE // len(chosen)), chance)
            shares += await self._overlaps(scope, numbers, target)
        return shares

    async def _sampled(self, scope: Scope, count: int, chance: random.Random) -> list[int]:
        feed = await self._ledger.feed(scope, vectors=False)
        numbers = sorted(numbers_of(feed))
        return chance.sample(numbers, min(count, len(numbers)))

    async def _overlaps(self, scope: Scope, numbers: Sequence[int], target: Embedder) -> Sequence[float]:
        _, models = self._able()
        old, new = await self._ledger.vectors(scope, numbers), await models.aside(scope, numbers)
        both = [n for n in numbers if n in old and n in new]
        await self._check(scope, {n: _vector(new[n]) for n in both}, target)
        ours, theirs = (Nearest({n: _vector(held[n]) for n in both}) for held in (old, new))
        after = 0
        while rows := await self._ledger.vectors_after(scope, after=after, limit=SCANNED):
            beside = await models.aside(scope, list(rows))
            if beside:
                ours.see({n: rows[n] for n in beside})
                theirs.see(beside)
            after = max(rows)
        return overlaps(ours, theirs)

    async def _check(self, scope: Scope, kept: Mapping[int, Vector], target: Embedder) -> None:
        """Look whether the model still says of these texts what it said when it was asked first."""
        feed, reading = await self._ledger.rows(scope, list(kept), vectors=False), self._reading(target)
        images = await reading.images_of(self._ledger, scope, feed, frozenset(kept))
        texts = await reading.texts_of(self._ledger, scope, feed, frozenset(kept).difference(images))
        made = await target.embed(list(texts.values()))
        wrong = [n for n, vector in zip(texts, made, strict=True) if not agree(vector, kept[n])]
        if wrong:
            raise EmbedderMismatch(
                f"{target.identity!r} gives {len(wrong)} of {len(texts)} texts other vectors than before: it is not "
                "one model. `commonplace migrate-embeddings --discard` removes what it made"
            )

    def _able(self) -> tuple[Following, Models]:
        following = self._parts.following
        if following is None:
            raise InvalidInput(
                "this ledger cannot change its model while in use: `commonplace reindex --embed` makes vectors anew"
            )
        return following, following.models


def _vector(blob: bytes) -> Vector:
    return np.frombuffer(blob, np.float32)


def _mean(shares: Sequence[float]) -> float:
    return sum(shares) / len(shares)
