"""The one way to search a corpus: what the product calls, and what the benchmark measures."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from commonplace.recall.corpus import KINDS, MESSAGE, Corpus, Mask
from commonplace.recall.dense import filled, smoothed
from commonplace.recall.fuse import Floats, Slots, top, union, z
from commonplace.recall.rank import priors, session_best
from commonplace.recall.understand import Question, understand


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One message or fact that was found, by its best row."""

    n: int
    id: str
    version: int
    """Of a fact; 0 for a message."""
    kind: str
    relevance: float
    """0..1: how likely it is that this answers."""
    score: float
    """The fused score: only good for the order within one search."""
    arms: Mapping[str, tuple[int, float]] = field(default_factory=dict)
    """For each arm that found it: its rank, from 1, and its score there."""
    parts: Mapping[str, float] = field(default_factory=dict)
    """What the fused score is the sum of."""


@dataclass(frozen=True, slots=True, eq=False)
class Arm:
    name: str
    scores: Floats
    """Of every slot."""
    found: Slots


def search(
    corpus: Corpus,
    text: str,
    *,
    mask: Mask,
    now: int,
    limit: int,
    query_vector: NDArray[np.float32] | None = None,
    dense_hits: Mapping[int, float] | None = None,
) -> list[Hit]:
    """Return up to `limit` hits, the best first.

    `query_vector` is compared with the vectors the corpus holds; `dense_hits`, row numbers with their cosines, stands
    for that where an index outside has answered. Without both, words alone decide.
    """
    question = understand(text, speakers=corpus.names, now=now, language=corpus.language)
    arms, coverage = _arms(corpus, question, mask, query_vector=query_vector, dense_hits=dense_hits)
    slots = union(*(arm.found for arm in arms))
    if not len(slots):
        return []
    parts = _parts(corpus, slots, question, arms)
    fused = np.sum(list(parts.values()), axis=0)
    parts["session"] = np.float32(corpus.weights.session_best) * session_best(corpus, slots, fused)
    fused = fused + parts["session"]
    order = _best_of_each(corpus, slots, fused)[:limit]
    relevance = coverage[slots]
    return [_hit(corpus, int(i), slots, fused, relevance, arms, parts) for i in order]


def _arms(
    corpus: Corpus,
    question: Question,
    mask: Mask,
    *,
    query_vector: NDArray[np.float32] | None,
    dense_hits: Mapping[int, float] | None,
) -> tuple[list[Arm], Floats]:
    weights = corpus.weights
    lexical, most = corpus.lexical.score(
        list(question.terms),
        lambda term, idf: min(idf, weights.name_cap) if term in question.names else 2 * sqrt(idf),
    )
    arms = [Arm("lexical", lexical, top(lexical, mask & (lexical > 0), weights.lexical_candidates))]
    if dense_hits is not None:
        slots = {corpus.slot_of[n]: score for n, score in dense_hits.items() if n in corpus.slot_of}
        plain = filled(slots, len(mask))
    elif query_vector is not None and corpus.dense is not None:
        plain = corpus.dense.score(query_vector)
    else:
        return arms, lexical / np.float32(max(most, 1e-9))
    smooth = smoothed(plain, corpus.threads, weights)
    arms.append(Arm("context", smooth, top(smooth, mask, weights.dense_candidates)))
    arms.append(Arm("dense", plain, top(plain, mask, weights.plain_candidates)))
    return arms, lexical / np.float32(max(most, 1e-9))


def _parts(corpus: Corpus, slots: Slots, question: Question, arms: list[Arm]) -> dict[str, Floats]:
    weigh = {"lexical": 1.0, "context": corpus.weights.dense_alone, "dense": 0.0}
    parts = {arm.name: np.float32(weigh[arm.name]) * z(arm.scores[slots]) for arm in arms if weigh[arm.name]}
    return parts | priors(corpus, slots, question)


def _best_of_each(corpus: Corpus, slots: Slots, fused: Floats) -> NDArray[np.int64]:
    """Return the places of the best row of each message or fact, the best first."""
    numbers = corpus.rows.number.cells[slots]
    order = np.lexsort((-numbers, -fused))
    _, places = np.unique(corpus.rows.first.cells[slots][order], return_index=True)
    return order[np.sort(places)]


def _hit(
    corpus: Corpus,
    place: int,
    slots: Slots,
    fused: Floats,
    relevance: Floats,
    arms: list[Arm],
    parts: Mapping[str, Floats],
) -> Hit:
    slot = int(slots[place])
    found = {arm.name: np.flatnonzero(arm.found == slot) for arm in arms}
    return Hit(
        n=int(corpus.rows.number.cells[slot]),
        id=corpus.ids[slot],
        version=int(corpus.rows.version.cells[slot]),
        kind=KINDS[corpus.rows.kind.cells[slot]] if corpus.rows.kind.cells[slot] else KINDS[MESSAGE],
        relevance=float(min(1.0, max(0.0, relevance[place]))),
        score=float(fused[place]),
        arms={arm.name: (int(found[arm.name][0]) + 1, float(arm.scores[slot])) for arm in arms if len(found[arm.name])},
        parts={name: float(part[place]) for name, part in parts.items()},
    )
