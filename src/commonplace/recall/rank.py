"""What counts beside the words: who is asked about, how much a message says, whether it only asks."""

import numpy as np
from numpy.typing import NDArray

from commonplace.recall.corpus import MESSAGE, Corpus
from commonplace.recall.features import Has
from commonplace.recall.packed import asks
from commonplace.recall.understand import Question

Floats = NDArray[np.float32]
Slots = NDArray[np.int64]
DAY = 86_400_000_000


def priors(corpus: Corpus, slots: Slots, question: Question) -> dict[str, Floats]:
    """Return what each rule adds, by name."""
    weights, words = corpus.weights, corpus.rows.words.cells[slots].astype(np.float32)
    only_asks = (words < 25) & asks(corpus.rows.has.cells[slots], Has.ENDS_ASKING)
    said = np.isin(corpus.rows.speaker.cells[slots], list(question.speakers))
    parts = {
        "question": -weights.question * only_asks,
        "length": np.log1p(np.minimum(words, 60)) - np.log(21),
        "speaker": weights.speaker * said,
        "date": weights.date * date_window(corpus.rows.at.cells[slots], question.window),
    }
    found = {name: (weights.priors * part).astype(np.float32) for name, part in parts.items()}
    found["thread"] = (weights.thread * in_thread(corpus, slots, question)).astype(np.float32)
    if not question.about_assistant:
        whole = np.maximum(corpus.rows.whole.cells[slots], 1)
        found["long"] = (-weights.long * np.maximum(0, np.log(whole / 90))).astype(np.float32)
    return found


def in_thread(corpus: Corpus, slots: Slots, question: Question) -> NDArray[np.bool_]:
    """Return whether a person whom the question names takes part in the row's session."""
    speaks = np.isin(corpus.rows.speaker.cells, list(question.speakers)) & corpus.rows.live.cells
    sessions = np.unique(corpus.rows.session.cells[speaks])
    message = corpus.rows.kind.cells[slots] == MESSAGE
    found: NDArray[np.bool_] = np.isin(corpus.rows.session.cells[slots], sessions) & message
    return found


def date_window(at: NDArray[np.int64], window: tuple[int, int] | None) -> Floats:
    """Return 1 inside the window and up to 14 days after it, then half as much every 14 days; 0 before it."""
    if window is None:
        return np.zeros(len(at), np.float32)
    start, stop = window
    late = np.maximum(0, at - stop) / (14 * DAY)
    return np.where(at < start, 0, np.exp2(-np.maximum(0, late - 1))).astype(np.float32)


def session_best(corpus: Corpus, slots: Slots, scores: Floats) -> Floats:
    """Return the best score of each row's session."""
    _, place = np.unique(corpus.rows.session.cells[slots], return_inverse=True)
    best = np.full(place.max(initial=0) + 1, -np.inf, np.float32)
    np.maximum.at(best, place, scores)
    return best[place]
