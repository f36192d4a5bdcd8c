"""Standing wishes: how somebody wants to be answered, which holds whatever the question is."""

import re
from collections.abc import Sequence

import numpy as np

from commonplace.domain.values import Recalled
from commonplace.recall.assemble import PLANTED
from commonplace.recall.corpus import Corpus, Mask
from commonplace.recall.order import Balance, Weighed, weigh
from commonplace.recall.rank import standing
from commonplace.recall.search import hits_at

_ANSWERS = re.compile(
    r"\b(?:answer|repl(?:y|ies)|respon[ds]|explanation)"
    r"|\b(?:call|address) me (?:by|as|(?-i:[A-Z]))|\b(?:talk|speak|write) to me (?:in|like|as)\b"
    r"|\bfrom now on\b|\b(?:when|whenever|if|every time) i ask\b"
    r"|(?:^|[.!?\n]\s*)(?:please,? )?(?:always|never) (?:include|use|give|write|format|provide|show|mention|explain"
    r"|add|ask|tell|start|end|suggest|recommend|cite|keep|remind|avoid|list|speak|translate)\b",
    re.IGNORECASE,
)

_ON_A_SUBJECT = re.compile(
    r"\b(?:when|whenever|if|every time) i(?:'m| am)? ask(?:ing)? (?:you )?(?:about|for)\b", re.IGNORECASE
)
"""A wish for questions on one subject: recall finds it for those, and it has no place beside all others."""


def wishes(corpus: Corpus, mask: Mask, *, balance: Balance, now: int, limit: int) -> list[Weighed]:
    """Return what may be a standing wish, the latest first: words of a user, and preferences. A message counts once."""
    slots = np.flatnonzero(mask & standing(corpus, np.arange(len(mask))))
    late = slots[np.lexsort((-corpus.rows.number.cells[slots], -corpus.rows.at.cells[slots]))]
    _, places = np.unique(corpus.rows.first.cells[late], return_index=True)
    chosen = late[np.sort(places)][:limit]
    nothing = np.zeros(len(chosen), np.float32)
    return weigh(corpus, hits_at(corpus, chosen, nothing, nothing), balance, now)


def that_stand(found: Sequence[Recalled]) -> list[Recalled]:
    """Return those that tell how to answer; of a preference and the message it was learned from, the preference."""
    kept = [item for item in found if item.note is None and _concerns_answers(item)]
    learned = {source for item in kept if item.kind != "message" for source in item.sources}
    return [item for item in kept if item.kind != "message" or item.id not in learned]


def _concerns_answers(item: Recalled) -> bool:
    """Say whether an item tells how to answer: by its words, or because a preference was written by hand.

    What tries to give orders through memory is never one: it would be in every prompt.
    """
    text = item.passage or item.text
    if item.metadata.get(PLANTED) is True or _ON_A_SUBJECT.search(text):
        return False
    by_hand = item.kind == "preference" and not item.sources
    return by_hand or bool(_ANSWERS.search(text))
