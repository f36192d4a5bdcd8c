"""Index entries of records that come from elsewhere: made anew from their texts, with their vectors where those fit.

Nothing else of what a file says about the indexes is believed: a term or vector that is wrong would spoil every recall.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from commonplace.domain.archive import Held, KeptFact, KeptMessage, KeptSummary, Passage
from commonplace.domain.scope import Scope
from commonplace.engine.embedding import Sense
from commonplace.engine.indexing import Indexing, Sketch
from commonplace.engine.parts import Parts
from commonplace.recall.late import WIDTH, packed

UNIT = 1e-3
"""How far from 1 the length of a vector may be."""


class _Wanted(NamedTuple):
    """A passage, and what the file says its vector is, if that can be used."""

    sketch: Sketch
    given: Passage | None


class Reindexed(NamedTuple):
    records: Sequence[Held]
    note: str | None
    """Says so if no model could be had."""
    model: str
    """Of all their vectors."""


class Reindexing:
    def __init__(self, parts: Parts, indexing: Indexing) -> None:
        self._parts, self._indexing = parts, indexing

    async def indexed(self, held: Sequence[Held], *, scope: Scope, embedder: str | None) -> Reindexed:
        """Return the records with their passages. `embedder` is the identity of the model whose vectors they carry."""
        while True:
            model = self._parts.embedder_of(scope).identity
            ready, note = await self._indexed(held, scope, fits=embedder is not None and embedder == model)
            if model == self._parts.embedder_of(scope).identity:  # else another one took its place meanwhile
                return Reindexed(ready, note, model)

    async def _indexed(self, held: Sequence[Held], scope: Scope, *, fits: bool) -> tuple[Sequence[Held], str | None]:
        wanted = [self._wanted(record, scope, fits=fits) for record in held]
        missing = [one.sketch for group in wanted for one in group if one.given is None]
        senses, note = await self._indexing.senses_of(missing, scope=scope) if missing else ((), None)
        given = iter(senses)
        ready: list[Held] = []
        for record, group in zip(held, wanted, strict=True):
            passages = tuple(_passage(one, None if one.given else next(given)) for one in group)
            match record:
                case KeptMessage():
                    ready.append(replace(record, passages=passages))
                case KeptFact() | KeptSummary():
                    ready.append(replace(record, passage=passages[0]))
                case _:
                    ready.append(record)
        return ready, note

    def _wanted(self, record: Held, scope: Scope, *, fits: bool) -> Sequence[_Wanted]:
        match record:
            case KeptMessage(message=message, passages=passages):
                sketches: Sequence[Sketch] = self._indexing.sketch_message(message, scope=scope)
            case KeptFact(fact=fact, passage=passage):
                sketches, passages = [self._indexing.sketch_fact(fact)], () if passage is None else (passage,)
            case KeptSummary(summary=summary, passage=passage):
                sketches, passages = [self._indexing.sketch_summary(summary)], () if passage is None else (passage,)
            case _:
                return ()
        given = {(one.start, one.stop): one for one in passages if fits and self._usable(one, scope)}
        return [_Wanted(sketch, given.get((sketch.start, sketch.stop))) for sketch in sketches]

    def _usable(self, passage: Passage, scope: Scope) -> bool:
        if passage.vector is None or len(passage.vector) != 4 * self._parts.embedder_of(scope).dimensions:
            return False
        length = float(np.linalg.norm(np.frombuffer(passage.vector, np.float32).astype(np.float64)))
        return abs(length - 1) < UNIT and len(passage.tokens or b"") % WIDTH == 0


def _passage(wanted: _Wanted, sense: Sense | None) -> Passage:
    sketch, given = wanted
    if given is not None:
        return replace(given, terms=sketch.terms)
    return Passage(
        start=sketch.start,
        stop=sketch.stop,
        terms=sketch.terms,
        vector=None if sense is None else np.asarray(sense.vector, np.float32).tobytes(),
        tokens=packed(sense.tokens) if sense is not None and sense.tokens else None,
    )
