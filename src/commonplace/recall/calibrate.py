"""From scores to a relevance of 0..1: how likely the question can be answered at all, and then by which item.

The fused score orders the items of one search. How good the best of them is shows in how much of the question it
covers: by words, by tokens, by its vector. In a small memory little is near by chance; in a large one something always
is, and the items further down tell what chance alone gives. `bench/calibration.py` fits them anew.
"""

from dataclasses import dataclass
from math import exp, log, sqrt

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What speaks for the best item of a search. None where there are no vectors, or no tokens."""

    coverage: float
    """Its share of the question's words, 0..1."""
    terms: int
    """How many words the question has."""
    cosine: float | None = None
    reach: float | None = None
    """How near its tokens, and those of the messages about it, come to the question's, 0..1."""
    around: float | None = None
    """The same for the items further down."""
    rows: int = 0
    """Rows in the partition."""
    about_talk: bool = False
    """The question is about the conversations themselves: whatever was said has to do with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """Log-odds. Half of the words of four is as much evidence as a quarter of the words of sixteen: hence the root."""

    coverage: float
    """Times the coverage and the root of the number of words."""
    cosine: float = 0.0
    reach: float = 0.0
    around: float = 0.0
    rows: float
    """Times ln(rows / 20), for 20 to 600 rows."""
    constant: float


WITH_TOKENS = Calibration(coverage=4.2, cosine=6.2, reach=5.0, around=-4.7, rows=-0.8, constant=-3.3)
WITH_VECTORS = Calibration(coverage=5.0, cosine=6.7, rows=-1.03, constant=-2.75)
WITH_WORDS = Calibration(coverage=5.8, rows=-1.0, constant=-0.5)
ABOUT_TALK = 0.3

THRESHOLD = 0.12
"""Below this the best item answers too seldom: nothing is returned."""
GAP = 2.0
"""An item whose fused score is so far behind the best is 1/e as likely to answer."""
FAR = exp(-10 / GAP)
"""An item is not returned when it is so much less likely than the best one. With 8, chats lose a point of R@10."""


def signs_of(evidence: Evidence) -> tuple[float, ...]:
    """Return what the numbers of a calibration are multiplied with, in their order."""
    return (
        evidence.coverage * sqrt(max(evidence.terms, 1)),
        evidence.cosine or 0.0,
        evidence.reach or 0.0,
        evidence.around or 0.0,
        log(min(max(evidence.rows, 20), 600) / 20),
        1.0,
    )


def answerable(evidence: Evidence) -> float:
    """Return how likely it is that the best item answers."""
    numbers = WITH_TOKENS if evidence.reach is not None else WITH_VECTORS
    if evidence.cosine is None:
        numbers = WITH_WORDS
    weights = (numbers.coverage, numbers.cosine, numbers.reach, numbers.around, numbers.rows, numbers.constant)
    odds = sum(weight * sign for weight, sign in zip(weights, signs_of(evidence), strict=True))
    likely = 1 / (1 + exp(-odds))
    return max(likely, ABOUT_TALK) if evidence.about_talk else likely


def relevance(fused: Floats, *, best: float) -> Floats:
    """Return the relevance of items by their fused scores, given that of the best one. It keeps their order."""
    likely: Floats = np.float32(best) * np.exp((fused - fused.max()) / np.float32(GAP))
    return likely
