"""Ask every question the way the product does, and note what comes back and how long it takes."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from bench.recall_eval.metrics import BUDGETS, Outcome
from bench.recall_eval.subject import Subject
from commonplace.recall.corpus import Corpus, Filters
from commonplace.recall.order import Balance, in_order
from commonplace.recall.search import Asked, fused_parts, retrieve, search
from commonplace.recall.tokens import count_tokens
from commonplace.recall.weights import Weights

SHIPPED = Weights()
NEIGHBOURLESS = replace(
    SHIPPED,
    before=(0.0,) * len(SHIPPED.before),
    before_asking=0.0,
    after=(0.0,) * len(SHIPPED.after),
    dense_before=(),
    dense_after=(),
    aftermath=0.0,
)
SIGNS = ("speaker", "date", "asks", "length", "specific", "fits", "opens", "thread", "long", "role", "standing")


def _zeroed(*names: str) -> Weights:
    nothing: dict[str, Any] = dict.fromkeys(names, 0.0)
    return replace(SHIPPED, **nothing)


WITHOUT: Mapping[str, Weights] = {
    "neighbours": NEIGHBOURLESS,
    "dense": replace(SHIPPED, context=0.0, context_alone=0.0),
    "late": SHIPPED,
    "priors": _zeroed(*SIGNS),
    "aftermath": replace(SHIPPED, aftermath=0.0),
    "threshold": SHIPPED,
    **{sign: _zeroed(sign) for sign in SIGNS},
}
"""What may be left out, and the weights that leave it out. Late and threshold are left out of the asking instead."""

DEEP = 150
"""Hits that a budget of tokens is filled from."""


@dataclass(slots=True)
class Run:
    outcomes: list[Outcome] = field(default_factory=list)
    answered: list[float] = field(default_factory=list)
    foreign: list[float] = field(default_factory=list)
    milliseconds: dict[str, list[float]] = field(default_factory=dict)


def ask_all(subjects: Sequence[Subject], *, without: str | None, now: int) -> Run:
    run = Run()
    for subject in subjects:
        corpus = subject.corpus(WITHOUT[without] if without else SHIPPED)
        asker = _Asker(corpus, without=without, now=now)
        for question, asked in subject.questions:
            best, ranked = asker.ask(asked, limit=20)
            if question.gold:
                run.answered.append(best)
                run.outcomes.append(
                    Outcome(
                        gold=question.gold,
                        ranked=tuple(ranked),
                        category=question.category,
                        sessions={turn.id: turn.session for turn in subject.conversation.turns},
                        within=_within(subject, asker.ask(asked, limit=DEEP)[1]),
                    )
                )
                asker.time(asked, run.milliseconds)
        run.foreign += [asker.ask(asked, limit=1)[0] for asked in subject.foreign]
    return run


@dataclass(frozen=True, slots=True)
class _Asker:
    corpus: Corpus
    without: str | None
    now: int

    def ask(self, asked: Asked, *, limit: int) -> tuple[float, list[str]]:
        """Return the relevance of the best item, and the items in their final order."""
        mask = self.corpus.mask(Filters(now=self.now))
        hits = search(self.corpus, self._left(asked), mask=mask, now=self.now, limit=limit, explain=False)
        least = 0.0 if self.without == "threshold" else None
        kept = in_order(self.corpus, hits, balance=Balance(), now=self.now, least=least)
        return max((hit.relevance for hit in hits), default=0.0), [weighed.hit.id for weighed in kept]

    def time(self, asked: Asked, spent: dict[str, list[float]]) -> None:
        """Note the processor time of the stages."""
        asked = self._left(asked)
        start = time.thread_time()
        mask = self.corpus.mask(Filters(now=self.now))
        masked = time.thread_time()
        found = retrieve(self.corpus, asked, mask=mask, now=self.now)
        retrieved = time.thread_time()
        if len(found.slots):
            fused_parts(self.corpus, found, asked.tokens, limit=10)
        fused = time.thread_time()
        search(self.corpus, asked, mask=mask, now=self.now, limit=10, explain=False)
        stages = {"filters": masked - start, "candidates": retrieved - masked, "fusion": fused - retrieved}
        for name, seconds in {**stages, "whole": masked - start + time.thread_time() - fused}.items():
            spent.setdefault(name, []).append(1000 * seconds)

    def _left(self, asked: Asked) -> Asked:
        match self.without:
            case "late":
                return replace(asked, tokens=None)
            case "dense":
                return replace(asked, vector=None)
            case _:
                return asked


def _within(subject: Subject, ranked: Sequence[str]) -> dict[int, frozenset[str]]:
    texts, spent, kept = subject.texts, 0, list[tuple[int, str]]()
    for found in ranked:
        turn = texts[found]
        spent += count_tokens(f"- {turn.at:%d %B %Y} {turn.name or turn.role}: {turn.text}\n")
        kept.append((spent, found))
    return {budget: frozenset(found for cost, found in kept if cost <= budget) for budget in BUDGETS}


def median(values: Sequence[float]) -> float:
    return round(float(np.median(values)), 2) if values else 0.0
